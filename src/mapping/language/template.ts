/** Templates such as `{invoice_no}-{line_no}`: column names in braces, `{{` and `}}` for the braces themselves. */

/** A piece of a template. Column names are trimmed. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly column: string };

/** The pieces in order, or what is wrong, as the end of a sentence about the template. */
export type ParsedTemplate = { readonly parts: readonly TemplatePart[] } | { readonly problem: string };

const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** Splits a template into texts and columns. It must name at least one column: otherwise it is a constant. */
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

/** The columns that a template names, in order; none if it does not parse. */
export function templateColumns(template: string): string[] {
  const parsed = parseTemplate(template);
  return 'parts' in parsed ? parsed.parts.flatMap((part) => (part.kind === 'column' ? [part.column] : [])) : [];
}
