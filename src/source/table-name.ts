/** Table names as mappings write them: parts joined by dots, a part that contains a dot in double quotes. */

/** `shop.orders` -> [shop, orders]; `shop."a.b"` -> [shop, a.b]; a quote inside a quoted part is doubled. */
export function tableNameParts(table: string): string[] {
  const parts: string[] = [];
  const part = /"((?:[^"]|"")*)"(?=\.|$)|([^.]*)/y;
  while (true) {
    const [, quoted, plain] = part.exec(table)!;
    parts.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (part.lastIndex >= table.length) return parts;
    part.lastIndex++;
  }
}

/** The inverse of {@link tableNameParts}. */
export const tableName = (...parts: readonly string[]): string =>
  parts.map((part) => (/\.|^"|^$/.test(part) ? `"${part.replaceAll('"', '""')}"` : part)).join('.');
