/** Whether PostgreSQL's driver can read an address: blanks, and no host before the path, are what a URL would not have. */
export const isReadablePostgresAddress = (text: string): boolean =>
  URL.canParse(text.replaceAll(' ', '%20').replace('@/', '@host/'));
