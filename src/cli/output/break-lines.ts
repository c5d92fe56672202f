/** Long sentences on a narrow terminal. */

/** Lines of at most `width` characters, broken between words; those after the first are indented. A longer word is cut. */
export function breakLines(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line.trim() !== '') {
      lines.push(line);
      line = `  ${word}`;
    } else line = longer;
  }
  return [...lines, line].map((each) => each.slice(0, width));
}
