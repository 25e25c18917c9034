/** `Map.prototype.getOrInsertComputed` of ECMAScript, which the runtime has not yet. */
export function getOrInsertComputed<K, V>(map: Map<K, V>, key: K, compute: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = compute();
    map.set(key, value);
  }
  return value;
}
