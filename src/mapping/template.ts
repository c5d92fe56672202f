/** Templates such as `{invoice_no}-{line_no}`: column names in braces, `{{` and `}}` for the braces themselves. */

export type TemplatePart =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'column'; readonly column: string };

export type ParsedTemplate = { readonly parts: readonly TemplatePart[] } | { readonly problem: string };

const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

export function parseTemplate(template: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  for (const match of template.matchAll(TOKEN)) {
    const [token, column] = match;
    if (column !== undefined) {
      if (column.trim() === '') return { problem: `an empty {} at character ${match.index + 1}; name a column in it` };
      parts.push({ kind: 'column', column: column.trim() });
    } else if (token === '{' || token === '}')
      return {
        problem: `a single ${token} at character ${match.index + 1}; close it, or write ${token}${token} for the brace itself`,
      };
    else parts.push({ kind: 'text', text: token === '{{' ? '{' : token === '}}' ? '}' : token });
  }
  if (!parts.some((part) => part.kind === 'column'))
    return { problem: 'names no column; use constant: for a fixed value' };
  return { parts };
}

export function templateColumns(template: string): string[] {
  const parsed = parseTemplate(template);
  return 'parts' in parsed ? parsed.parts.flatMap((part) => (part.kind === 'column' ? [part.column] : [])) : [];
}
