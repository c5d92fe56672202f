/**
 * The kinds of findings: what each means, and what to do about it. A finding's own message names the place and the
 * values. `check` and `mapping test` print the kinds, `explain-code` explains them.
 */

interface FindingKindEntry {
  readonly meaning: string;
  readonly remedy: string;
}

/** Every kind by its name, in the order in which `check` finds them: files, their form, what they say, and the source. */
export const FINDING_KINDS = {
  sync_missing: {
    meaning: 'There is no sync of this name in the mappings folder.',
    remedy: 'Correct the name, or set PARTNER_SYNC_MAPPINGS to the folder that contains it.',
  },
  file_missing: {
    meaning: 'The sync has no sync.yaml, or no mapping.',
    remedy: 'Add the file that the message names; `partner-sync init` drafts a whole sync.',
  },
  mapping_missing: {
    meaning: 'Something names a mapping that the sync does not have: a reference, or a file of examples.',
    remedy: 'Correct the name, or add `<name>.mapping.yaml`.',
  },
  schema_missing: {
    meaning: 'A mapping names a schema definition that the sync does not have.',
    remedy: 'Correct `schema`, or add `<name>.schema.json`.',
  },
  transform_missing: {
    meaning: 'A mapping names a custom transform that the sync does not have.',
    remedy: 'Correct the name, or add `<name>.transform.js`.',
  },
  bad_transform: {
    meaning: 'The file of a custom transform cannot be used: it fails to load, or does not export what it should.',
    remedy: 'Correct the file as the message says.',
  },
  unused_transform: {
    meaning: 'No mapping calls this custom transform.',
    remedy: 'Remove the file, or name it in the `transforms` of a field.',
  },
  unused_schema: {
    meaning: 'No mapping uses this schema definition, so it would be pushed for nothing.',
    remedy: 'Remove the file, or name it in the `schema` of a mapping.',
  },
  unknown_file: {
    meaning: "The file is in a sync's folder, but its name is none that is read.",
    remedy: 'Rename it to the form that the message shows, or move it elsewhere.',
  },
  duplicate_file: {
    meaning: 'Two files with different endings have the same role.',
    remedy: 'Keep one of them.',
  },
  bad_name: {
    meaning: 'The name of a sync or a mapping has characters that are not allowed.',
    remedy: 'Rename the folder or the file: lower-case letters, digits and hyphens, at most 63.',
  },
  outside_folder: {
    meaning: 'A symbolic link leads out of the mappings folder.',
    remedy: 'Copy what it leads to into the mappings folder.',
  },
  not_a_file: { meaning: 'The name belongs to something other than a file.', remedy: 'Put a file in its place.' },
  too_large: { meaning: 'The file is larger than what is read.', remedy: 'Make it smaller; it is probably not meant.' },
  not_utf8: { meaning: 'The file is not UTF-8 text.', remedy: 'Save it as UTF-8.' },
  unreadable: { meaning: 'The file cannot be read.', remedy: 'Correct its permissions.' },
  syntax: { meaning: 'The text is not valid YAML or JSON.', remedy: 'Correct it at the place that the finding names.' },
  duplicate_key: { meaning: 'A key occurs twice in a map.', remedy: 'Keep one of them.' },
  secret_in_file: {
    meaning: 'The file contains what looks like a password, a token or a private key.',
    remedy: 'Put it into a variable, write `${env:NAME}` here, and replace the secret if others have seen the file.',
  },
  alias_missing: {
    meaning: 'A YAML alias (`*name`) refers to nothing.',
    remedy: 'Define it with `&name` above, or quote a text that begins with `*`.',
  },
  tag: { meaning: 'The text uses a YAML tag (`!`).', remedy: 'Write the plain value.' },
  doubtful_number: {
    meaning: 'YAML would read the number as another one than is written.',
    remedy: 'Quote it if it is a text, or write the number plainly.',
  },
  bad_text: {
    meaning: 'A text contains U+0000 or half a character.',
    remedy: 'Remove it: neither databases nor the platform can hold such a text.',
  },
  too_deep: { meaning: 'The values are nested too deeply.', remedy: 'Write them flatter.' },
  too_many_aliases: {
    meaning: 'Aliases expand to too much, or one stands in itself.',
    remedy: 'Write the values out.',
  },
  env_missing: {
    meaning: 'A `${env:NAME}` names an environment variable that is not set.',
    remedy: 'Set the variable, in the environment or in .env. `check --offline` does not need it.',
  },
  env_invalid: {
    meaning: 'A `${env:NAME}` is misspelled, or the value of the variable contains another one.',
    remedy: 'Correct the text, or the value of the variable.',
  },
  unknown_key: {
    meaning: 'The key is none that may stand here.',
    remedy: 'Correct or remove it; the message lists the allowed ones.',
  },
  missing_key: { meaning: 'A key that is needed here is missing.', remedy: 'Add it.' },
  forbidden_name: { meaning: 'The name of a key has a form that is not allowed here.', remedy: 'Choose another one.' },
  wrong_type: { meaning: 'The value is of the wrong type.', remedy: 'Write one of the type that the message names.' },
  not_allowed: {
    meaning: 'The value is none of those that are allowed here.',
    remedy: 'Use one that the message lists.',
  },
  out_of_range: {
    meaning: 'The value is too large, too small, or otherwise outside what is allowed.',
    remedy: 'Use one within the range that the message names.',
  },
  empty: { meaning: 'The value is empty, or has too few entries.', remedy: 'Fill it in, or remove the key.' },
  too_many: { meaning: 'The map has more than the one key that it may have.', remedy: 'Keep one of its keys.' },
  duplicate: { meaning: 'A list names something twice.', remedy: 'Keep one of them.' },
  duplicate_name: { meaning: 'Two schedules have the same name.', remedy: 'Rename one of them.' },
  bad_format: {
    meaning: 'The text does not have the form that is needed here.',
    remedy: 'Correct it as the message says.',
  },
  bad_cron: { meaning: 'The cron expression is not valid.', remedy: 'Correct the part that the message names.' },
  bad_time_zone: {
    meaning: 'The name of a time zone is not known.',
    remedy: 'Use one of the IANA time zones, such as Europe/London.',
  },
  bad_template: { meaning: 'The braces of a template do not match.', remedy: 'Write `{column}`; `{{` is a brace.' },
  bad_tenant_id: { meaning: 'A tenant id has characters that are not allowed.', remedy: 'Correct it.' },
  bad_phone_country: {
    meaning: 'The country of telephone numbers is not known.',
    remedy: 'Use two capital letters, such as GB.',
  },
  bad_source_url: {
    meaning: 'The address of the source is none of a kind of database that partner-sync reads.',
    remedy: 'Correct the address; the message shows the forms.',
  },
  bad_alert_url: { meaning: 'The address of a target of alerts is not allowed.', remedy: 'Use an https address.' },
  bad_email_address: { meaning: 'The text is not an email address.', remedy: 'Correct it.' },
  bad_positive_duration: { meaning: 'The duration is zero, or too long.', remedy: 'Use one that the message allows.' },
  bad_dependency_wait: {
    meaning: '`dependencyWaitTimeout` is longer than the platform allows.',
    remedy: 'Use one from 0s to 24h.',
  },
  bad_statement_timeout: {
    meaning: '`statementTimeout` is too short or too long.',
    remedy: 'Use one from 0.01s to 1d.',
  },
  bad_in_doubt_delay: { meaning: '`inDoubtDelay` is too long.', remedy: 'Use one from 0s to 10m.' },
  bad_pending_time: { meaning: 'The time for pending records is too long.', remedy: 'Use one from 0s to 7d.' },
  bad_guard_wait: { meaning: '`guard.wait` is too short or too long.', remedy: 'Use one from 1s to 7d.' },
  bad_schedule_time: { meaning: 'A time of a schedule is too long.', remedy: 'Use one of at most a year.' },
  bad_retention_time: {
    meaning: 'A time of `retention` is too short or too long.',
    remedy: 'Use one from 1d to 3650d.',
  },
  bad_cursor_overlap: { meaning: 'The overlap of a cursor is too long.', remedy: 'Use one from 0s to 3650d.' },
  bad_option: {
    meaning: 'An option contradicts another one, or does not suit its transform.',
    remedy: 'Correct it as the message says.',
  },
  unknown_transform: { meaning: 'There is no transform of this name.', remedy: 'Use one that the message lists.' },
  name_mismatch: {
    meaning: 'The `name` in a schema definition is not that of its file.',
    remedy: 'Make them the same.',
  },
  unknown_property: {
    meaning: '`externalIdField` names no property of the schema.',
    remedy: 'Correct it, or add the property.',
  },
  schema_invalid: {
    meaning: 'The JSON Schema in a schema definition cannot be used.',
    remedy: 'Correct it as the message says.',
  },
  pattern_unsupported: {
    meaning: 'A pattern cannot be matched in bounded time.',
    remedy: 'Write it without look-around and back-references.',
  },
  unknown_field: {
    meaning: 'The mapping fills a field that the schema definition does not have.',
    remedy: 'Correct the name, or add the field to the schema definition.',
  },
  field_missing: {
    meaning: 'The mapping does not fill a field that the schema definition requires.',
    remedy: 'Map it, or remove it from `required`.',
  },
  omit_null: {
    meaning: '`omitNull` stands at a field that can never be left out.',
    remedy: 'Remove it there.',
  },
  constant_invalid: {
    meaning: 'A constant breaks the schema definition.',
    remedy: 'Correct the constant, or the schema.',
  },
  ref_expected: {
    meaning: 'The schema definition has a reference here, and the mapping fills it with something else.',
    remedy: 'Use `ref:` with the mapping of the parent.',
  },
  ref_unexpected: {
    meaning: 'The mapping fills a field with a reference, and the schema definition has none there.',
    remedy: 'Map a column, or make the field a `$ref` in the schema definition.',
  },
  ref_schema: {
    meaning: 'A reference names a mapping of another schema definition than its field refers to.',
    remedy: 'Name the mapping that fills that schema definition.',
  },
  reference_cycle: {
    meaning: 'Mappings refer to each other in a cycle that two passes cannot load.',
    remedy: 'Make a reference of the cycle one that may be left out at first.',
  },
  deletes_values: {
    meaning: '`deletes.values` and `deletes.column` do not fit each other.',
    remedy: 'Name the column, and those of its values that mean deleted.',
  },
  deletes_rejected: {
    meaning: 'With `onConflict: reject`, no record could be marked as deleted.',
    remedy: 'Use `upsert`.',
  },
  deletes_field: {
    meaning: 'A field cannot be set or cleared for a deleted row.',
    remedy: 'Correct `deletes.action` as the message says.',
  },
  mirror_without_deletes: {
    meaning: 'In mode mirror, no mapping says what happens to records whose rows are gone.',
    remedy: 'Declare `deletes` in a mapping, or use mode full.',
  },
  live_without_changes: {
    meaning: 'In mode live, a mapping has no change feed.',
    remedy: 'Name one in `changes` of sync.yaml or of the mapping, or use another mode.',
  },
  changes_of_query: {
    meaning: 'A mapping that reads a query has a change feed, which knows tables only.',
    remedy: 'Name the tables that it reads in `changes.tables`, or write `changes: none` in the mapping.',
  },
  changes_key: {
    meaning: 'The columns that `changes.tables` names do not lead to the key of the mapping.',
    remedy: 'Name columns that have the values of the key, or say in `through` where it is found.',
  },
  changes_unnamed: {
    meaning: 'The mapping reads a table that `changes.tables` does not name: its changes are not noticed.',
    remedy: 'Name the table, or leave its changes to runs in mode `full`.',
  },
  deletes_by_mirror: {
    meaning:
      'A change feed cannot tell which record a deleted row had: the external id is not made of key columns alone.',
    remedy: 'Make the external id of key columns, or run the sync in mode mirror now and then.',
  },
  mirror_unsure: {
    meaning: 'Mode mirror cannot look rows up by the external id of this mapping.',
    remedy: 'Make the external id from a column, or from a template without transforms.',
  },
  schema_shared: {
    meaning: 'Another mapping of the sync fills the same schema, and this one marks records as deleted.',
    remedy:
      'Make sure that no two rows have the same external id, such as by a template that begins with a text of its own in each mapping; or read all rows by one mapping, with a query.',
  },
  columns: {
    meaning: 'The columns that a file of examples lists do not fit the mapping.',
    remedy: 'Correct `columns`; `partner-sync mapping test <sync> --record 1` writes a new list.',
  },
  example_failed: {
    meaning: 'The mapping makes something else of an example than the example says.',
    remedy: 'Correct the mapping, or the example.',
  },
  column_missing: {
    meaning: 'The mapping names a column that the table or query does not have.',
    remedy: 'Correct the name; the message lists the columns.',
  },
  duplicate_column: {
    meaning: 'The query returns two columns of the same name.',
    remedy: 'Give one of them another name with AS.',
  },
  no_conversion: {
    meaning: 'Values of the column cannot become values of the field.',
    remedy: 'Add a transform, cast the column in a query, or change the type in the schema definition.',
  },
  cursor_type: {
    meaning: 'The cursor is of a type that does not show when a row changed.',
    remedy: 'Use a column with a date or a timestamp, or leave the cursor out and use mode full.',
  },
  not_readable: {
    meaning: 'The account may not read the table.',
    remedy: 'Execute the GRANT that the message shows.',
  },
  key_not_unique: {
    meaning: 'Nothing guarantees that `key` identifies one row, or rows share a key: a run that reads them fails.',
    remedy: 'Name columns that are unique together, and that a primary or unique key contains.',
  },
  key_nullable: {
    meaning: 'A column of `key` may be NULL, and a row without a key is never read.',
    remedy: 'Make the column NOT NULL, or choose another key.',
  },
  cursor_not_indexed: {
    meaning: 'No index begins with the cursor, so each page scans the table.',
    remedy: 'Execute the CREATE INDEX that the message shows.',
  },
  cursor_zone_unused: {
    meaning: 'The mapping names a zone for a cursor whose values have a zone of their own, so it is not used.',
    remedy: 'Remove `zone` from the cursor.',
  },
  cursor_null: {
    meaning: 'Rows have no value in the cursor; an incremental run would never read them.',
    remedy: 'Fill the column, use coalesce in a query, or leave the cursor out.',
  },
  external_id_not_indexed: {
    meaning: 'A mirror run looks rows up by columns that no index begins with.',
    remedy: 'Execute the CREATE INDEX that the message shows.',
  },
  external_id_not_unique: {
    meaning: 'Rows have the same external id: on the platform they would be one record.',
    remedy: 'Make the external id unique.',
  },
  changes_table: {
    meaning:
      'A change feed cannot tell which rows of the table have changed, or not all of them, or would make updates and deletions of the source fail.',
    remedy: 'Execute the SQL that the message shows, use the key that it names, or write `changes: none`.',
  },
  changes_unpublished: {
    meaning: 'The change feed is installed, and does not report the table that the mapping reads.',
    remedy: 'Let `partner-sync changes install` add the table, or write `changes: none`.',
  },
  nullable_required: {
    meaning: 'A column that may be NULL fills a field that the schema requires; such a row becomes a dead letter.',
    remedy: 'Make the column NOT NULL, or the field optional; nothing, if no row is NULL.',
  },
  too_long: {
    meaning: 'The column may contain texts that are longer than the schema allows.',
    remedy: 'Raise `maxLength`, or shorten the column.',
  },
  reference_elsewhere: {
    meaning: 'By its foreign key, the column refers to another table than the one that the mapping in `ref` reads.',
    remedy: 'Name the mapping of that table, if the foreign key is right.',
  },
  rows_fail: {
    meaning:
      'Rows of the source cannot be mapped, or break the schema definition. As an error: all rows that were read.',
    remedy: 'Correct the mapping if all rows fail; otherwise the rows, which would become dead letters.',
  },
} as const satisfies Record<string, FindingKindEntry>;
