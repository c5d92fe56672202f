/** Places in the files of a sync: paths of keys, and where a reader finds them. */

/** Keys and indexes from the top of a file: `['fields', 'email', 'transforms', 0]`. */
export type Path = readonly (string | number)[];

/** Where something is in a file. */
export interface Place {
  /** 1-based; 0 if the file as a whole is meant. */
  readonly line: number;
  readonly column: number;
  /** The text as written, if it names an environment variable: messages quote this, never the value. */
  readonly written?: string;
}

/** Finds the place of a path, or that of its nearest parent if the path itself is not written. */
export type Locate = (file: string, path: Path) => Place;

/** `fields.email.transforms[0]`. Names with dots or blanks are in brackets. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/**
 * A JSON pointer, as ajv writes it, as a path in the value `root`. Digits become indexes only where the value has a
 * list.
 */
export function pathOfPointer(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let at: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(at) ? Number(name) : name);
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined;
  }
  return path;
}
