/** Makes the derived value of an immutable object once; two models share what two states share. */
export function memoize<R extends object, I>(make: (value: R) => I): (value: R) => I {
  const made = new WeakMap<R, I>();
  return (value) => {
    const known = made.get(value);
    if (known !== undefined) return known;
    const fresh = make(value);
    made.set(value, fresh);
    return fresh;
  };
}
