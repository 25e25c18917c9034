import { onTestFinished, vi } from 'vitest';

/** Has commands in this process take who runs them for the user of that id, until the test is over: what they advise depends on it. */
export function asUser(id: number): void {
  const spy = vi.spyOn(process, 'getuid').mockReturnValue(id);
  onTestFinished(() => spy.mockRestore());
}
