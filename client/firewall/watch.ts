import type { StartProgram } from '../run-program.ts';

/** What others do to packet rules of nodes is told of as it happens. */
export interface Watch {
  close(): Promise<void>;
}

/** After the watching program ended: it is started again. */
const AGAIN_MS = 1_000;
/** All that is removed: `delete rule inet mesh_mesh0 c_input handle 7`. nft says too when it lost some. */
const REMOVED = /^delete \w+ inet (mesh_\w+)|lost/i;

/**
 * Watches what is removed from nftables, by anyone, this process included.
 *
 * @param isRenewal whether a line is only the lease, which is renewed by removing it
 */
export function watchRemovals(
  start: StartProgram,
  isRenewal: (line: string) => boolean,
  onRemoved: (table: string | undefined) => void,
): Watch {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const open = () => {
    const program = start('nft', ['monitor', 'destroy'], (line) => {
      const found = REMOVED.exec(line);
      if (found && !isRenewal(line)) onRemoved(found[1]);
    });
    void program.ended.then(() => {
      if (!isClosed) timer = setTimeout(() => (watching = open()), AGAIN_MS);
    });
    return program;
  };
  let watching = open();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watching.end();
    },
  };
}
