/** Runs steps one after the other, so that no check sees half of a change. One that fails keeps no later one. */
export function serialiser(): <T>(step: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const done = last.then(step, step);
    last = done.catch(() => {});
    return done;
  };
}
