/** Column types of MySQL with their boundary values: those of MariaDB, but for where the two differ. */
import { MARIADB_CASES } from './mariadb.js';
import type { TypeCase } from './type-case.js';

const ONLY_MARIADB = ['uuid', 'inet4', 'inet6'];

const INSTEAD: readonly TypeCase[] = [
  {
    ddl: 'time(2)',
    kind: 'time',
    drafted: 'string',
    values: [["'-838:59:58.99'", '-838:59:58.99', '-838:59:58.99']],
  },
  {
    ddl: 'json',
    kind: 'json',
    drafted: 'any JSON',
    values: [[`'{"bb": 1, "a": 1.50}'`, '{"a": 1.5, "bb": 1}', { a: 1.5, bb: 1 }]],
    note: 'as the server has kept it: keys in its own order, numbers without final zeros',
  },
];

export const MYSQL_CASES: readonly TypeCase[] = MARIADB_CASES.filter(({ ddl }) => !ONLY_MARIADB.includes(ddl)).map(
  (of) => INSTEAD.find(({ ddl }) => ddl === of.ddl) ?? of,
);
