/** Many short texts as one, which another thread is given for the price of one. */

/** Texts, one behind the other; `ends` are counted in UTF-16 units. */
export interface Texts {
  readonly text: string;
  readonly ends: Uint32Array;
}

export function join(texts: readonly string[]): Texts {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let i = 0; i < texts.length; i++) ends[i] = end += texts[i]!.length;
  return { text: texts.join(''), ends };
}

export function split({ text, ends }: Texts): string[] {
  const texts = new Array<string>(ends.length);
  for (let i = 0; i < texts.length; i++) texts[i] = text.substring(i === 0 ? 0 : ends[i - 1]!, ends[i]);
  return texts;
}
