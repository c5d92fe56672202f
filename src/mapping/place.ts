/** Places inside the files of a sync: paths of keys, and where the reader finds them. */

/** Keys and indexes from the top of a file: `['fields', 'email', 'transforms', 0]`. */
export type Path = readonly (string | number)[];

export interface Place {
  /** 1-based; 0 where the file as a whole is meant. */
  readonly line: number;
  readonly column: number;
  /** The text as written, where it names an environment variable: messages quote this, never the value. */
  readonly written?: string;
}

/** Finds a path's place; the nearest parent's where the path itself is not written. */
export type Locate = (file: string, path: Path) => Place;

/** `fields.email.transforms[0]`; names with dots or blanks in brackets. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** A JSON pointer as a path; digits become indexes, as ajv writes list positions. */
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
