/** The key of a row in an index: a key may be too long for one, its hash is not. */

/** The SQL for the SHA-256 of a key, given as the SQL for its JSON. The text of jsonb is canonical. */
export const keyHash = (key: string): string => `sha256(convert_to(${key}::text, 'UTF8'))`;
