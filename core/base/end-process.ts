/**
 * Ends this process as an error does that nothing handles: at once and with a line in the log, so that its supervisor starts
 * another. For what it cannot go on with.
 */
export function endProcess(error: Error): void {
  void Promise.reject(error);
}
