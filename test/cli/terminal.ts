/** A terminal that keeps what was written, and what is visible after it: it knows the two codes that displays use. */
export function terminal(columns: number, rows: number) {
  const visible: string[] = [];
  const write = (text: string): boolean => {
    // oxlint-disable-next-line no-control-regex
    const [, up, rest] = /^(?:\u001b\[(\d+)A\u001b\[J)?(.*)$/s.exec(text)!;
    visible.splice(visible.length - Number(up ?? 0));
    visible.push(...rest!.split('\n').slice(0, -1));
    return true;
  };
  return { visible, stream: { isTTY: true, columns, rows, write } as unknown as NodeJS.WriteStream };
}
