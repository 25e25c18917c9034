/** Returns the names that a message of the control plane quotes. */
export function quotedIn(message: string): readonly string[] {
  return [...message.matchAll(/["“]([^"“”]+)["”]/g)].map(([, name = '']) => name);
}
