/** The parents that children miss, with their own parents, up to the eldest: who can come, and in which order. */
import { isParentCode, type ParentCode } from '../src/domain/parent.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { OpenMapping } from './dependencies.js';
import { parentKey, type MissedParent } from './parents.js';

/**
 * - `there`: the platform has it; `coming`: sent, and not settled yet;
 * - a code: it will not come as things are; `unknown`: nobody can tell.
 */
export type ParentFate = 'there' | 'coming' | 'unknown' | ParentCode;

export interface ParentNode {
  readonly parent: MissedParent;
  /** Mappings that may make it, in the order in which they are asked. */
  readonly candidates: readonly OpenMapping[];
  /** The one whose word counts; null where none of the sync makes it. */
  mapping: OpenMapping | null;
  /** null while it is only found in the source, as `record`. */
  fate: ParentFate | null;
  record: MappedRecord | null;
  /** Keys of its own parents: all of them, and those without which it cannot be delivered. */
  elders: readonly string[];
  needs: readonly string[];
}

export interface ParentGraph {
  /** By {@link parentKey}. */
  readonly nodes: ReadonlyMap<string, ParentNode>;
  /** Stamps drawn before and after the rows were read. */
  readonly before: string;
  readonly after: string;
}

/** Marks what cannot come since something that it needs will not: over any number of generations. */
export function blockChildren({ nodes }: Pick<ParentGraph, 'nodes'>): void {
  const children = new Map<string, ParentNode[]>();
  for (const node of nodes.values())
    for (const key of node.needs) {
      const same = children.get(key);
      if (same === undefined) children.set(key, [node]);
      else same.push(node);
    }
  const blocked = [...nodes].filter(([, { fate }]) => fate !== null && isParentCode(fate)).map(([key]) => key);
  for (let key = blocked.pop(); key !== undefined; key = blocked.pop())
    for (const child of children.get(key) ?? []) {
      if (child.fate !== null && child.fate !== 'coming') continue;
      child.fate = 'parent_rejected';
      blocked.push(parentKey(child.parent));
    }
}

/** Those that were found in the source and can be delivered, generation by generation, the eldest first. */
export function generations({ nodes }: Pick<ParentGraph, 'nodes'>): ParentNode[][] {
  const found = new Map([...nodes].filter(([, { fate }]) => fate === null));
  const depths = new Map<string, number>();
  const levels: ParentNode[][] = [];
  for (const start of found.keys()) {
    // A stack of our own: a family may have more generations than a thread has room for calls.
    const path = [start];
    const onPath = new Set(path);
    while (path.length > 0) {
      const key = path.at(-1)!;
      const elders = found.get(key)!.elders.filter((elder) => found.has(elder) && elder !== key);
      const open = depths.has(key) ? undefined : elders.find((elder) => !depths.has(elder) && !onPath.has(elder));
      if (open !== undefined) {
        path.push(open);
        onPath.add(open);
        continue;
      }
      path.pop();
      onPath.delete(key);
      if (depths.has(key)) continue;
      const depth = Math.max(0, ...elders.map((elder) => (depths.get(elder) ?? -1) + 1));
      depths.set(key, depth);
      (levels[depth] ??= []).push(found.get(key)!);
    }
  }
  return levels;
}
