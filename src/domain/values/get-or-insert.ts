/**
 * The value of a key in a map, made by `make` if there is none: `Map.prototype.getOrInsertComputed`, which Node.js 20 does
 * not have.
 */
export function getOrInsert<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
