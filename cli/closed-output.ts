import { constants } from 'node:os';

/** The exit code that a shell reports for a program ended by SIGPIPE, which Node does not receive. */
const ENDED_BY_SIGPIPE = 128 + constants.signals.SIGPIPE;

/** Nobody reads the output any more: the command ends without a word, as with `| head`. */
export function endWithOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(ENDED_BY_SIGPIPE);
  });
  // A failed write to standard error stops no command.
  process.stderr.on('error', () => {});
}

/** A node or a control plane goes on when nobody reads its output any more, or there is no room for it. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
  }
}
