/** A quick estimate of how deep a YAML text nests, before the parser recurses into it. */

/** Text that seems to nest deeper than this is not even parsed; generous, since the estimate may be too high. */
const HOPELESS = 200;

/** Whether the text must not be given to a parser, of YAML or JSON. */
export const isTooDeep = (text: string): boolean => nestingAtMost(text) > HOPELESS;

/**
 * The deepest nesting that the text can have, by brackets, dashes and indentation. Brackets in texts and comments count
 * too, so the result may be too high, but never too low. It exists because a hundred thousand open brackets end the
 * process: the yaml package's error handling builds a regular expression from them.
 */
function nestingAtMost(text: string): number {
  let brackets = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++brackets);
    else if (character === ']' || character === '}') brackets = Math.max(0, brackets - 1);
  }
  const indents: number[] = [];
  for (const line of text.split('\n')) {
    const start = /^[ \t]*(?:[-?:][ \t]+)*/.exec(line)![0];
    if (start.length === line.trimEnd().length) continue;
    while (indents.length > 0 && indents[indents.length - 1]! >= start.length) indents.pop();
    indents.push(start.length);
    const markers = start.replace(/[^-?:]/g, '').length;
    deepest = Math.max(deepest, indents.length + markers);
  }
  return deepest;
}
