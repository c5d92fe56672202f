/** The state of a mapping of which every row has to be read, and every record looked for: for SET of `fed_mappings`. */
export const NOT_LOADED =
  'loaded = false, load_run_id = NULL, missed_deletes = true, trusted_run_id = NULL, search_plan_id = NULL';
