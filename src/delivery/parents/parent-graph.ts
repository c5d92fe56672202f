/** The parents that children lack, the parents of these, and so on: which of them can come, and in which order. */
import { isParentCode, type ParentCode } from '../../domain/records/parent.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { OpenMapping } from '../dependencies.js';
import { parentKey, type ParentReference } from './parents.js';

/**
 * What is known about a parent that a child lacks.
 * - `there`: the platform has it; `coming`: it is waiting;
 * - a code: it will not come as things are; `unknown`: it cannot be told.
 */
export type ParentStatus = 'there' | 'coming' | 'unknown' | ParentCode;

/** One parent. Look-up, blocking and delivery decide its status step by step. */
export interface ParentNode {
  readonly parent: ParentReference;
  /** Mappings that may make its record, in the order in which they are asked. */
  readonly producers: readonly OpenMapping[];
  /** The mapping that has decided its status; null if no mapping of the sync makes it. */
  mapping: OpenMapping | null;
  /** null while it is only found in the source, as `record`. */
  status: ParentStatus | null;
  record: MappedRecord | null;
  /** Keys of all its own parents, and of those without which it cannot be delivered. */
  ancestors: readonly string[];
  requiredParents: readonly string[];
}

/** Parents, their own parents, and so on. */
export interface ParentGraph {
  /** By {@link parentKey}. */
  readonly nodes: ReadonlyMap<string, ParentNode>;
  /** Read sequence numbers drawn before and after the rows were read. */
  readonly readSeqStart: string;
  readonly readSeqEnd: string;
}

/**
 * Marks as rejected those that cannot come because a parent that they need will not, over any number of generations.
 */
export function blockChildren({ nodes }: Pick<ParentGraph, 'nodes'>): void {
  const children = new Map<string, ParentNode[]>();
  for (const node of nodes.values())
    for (const key of node.requiredParents) {
      const same = children.get(key);
      if (same === undefined) children.set(key, [node]);
      else same.push(node);
    }
  const blocked = [...nodes].filter(([, { status }]) => status !== null && isParentCode(status)).map(([key]) => key);
  for (let key = blocked.pop(); key !== undefined; key = blocked.pop())
    for (const child of children.get(key) ?? []) {
      if (child.status !== null && child.status !== 'coming') continue;
      child.status = 'parent_rejected';
      blocked.push(parentKey(child.parent));
    }
}

/** The parents that were found in the source, in generations, the oldest first. Cycles are cut. */
export function generations({ nodes }: Pick<ParentGraph, 'nodes'>): ParentNode[][] {
  const found = new Map([...nodes].filter(([, { status }]) => status === null));
  const depths = new Map<string, number>();
  const levels: ParentNode[][] = [];
  for (const start of found.keys()) {
    // An explicit stack: a family may have more generations than the call stack has frames.
    const path = [start];
    const onPath = new Set(path);
    while (path.length > 0) {
      const key = path.at(-1)!;
      const ancestors = found.get(key)!.ancestors.filter((ancestor) => found.has(ancestor));
      const open = depths.has(key)
        ? undefined
        : ancestors.find((ancestor) => !depths.has(ancestor) && !onPath.has(ancestor));
      if (open !== undefined) {
        path.push(open);
        onPath.add(open);
        continue;
      }
      path.pop();
      onPath.delete(key);
      if (depths.has(key)) continue;
      const depth = Math.max(0, ...ancestors.map((ancestor) => (depths.get(ancestor) ?? -1) + 1));
      depths.set(key, depth);
      (levels[depth] ??= []).push(found.get(key)!);
    }
  }
  return levels;
}
