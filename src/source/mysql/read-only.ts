/** The variable read_only of MySQL and MariaDB. */

/**
 * Whether its value says that the server takes no writes. It is 0 or 1, or OFF or ON, in MySQL and up to MariaDB 11;
 * MariaDB 12 has several values for yes.
 */
export const isReadOnly = (value: string): boolean => !['0', 'OFF'].includes(value);
