import type { StartProgram } from '../run-program.ts';
import type { OwnTransactions } from './own-transaction.ts';

/** What others do to packet rules of nodes is told of as it happens. */
export interface Watch {
  close(): Promise<void>;
}

/** What was removed from a table: by someone else, after the load of that number; or it is not known, since nft lost what the kernel told. */
export type Removal = { readonly afterLoad: number | undefined } | 'lost';

/** After the watching program ended: it is started again. */
const AGAIN_MS = 1_000;
/** `delete rule inet mesh_mesh0 c_input handle 7` */
const REMOVED = /^delete \w+ inet (\S+)/;
/** What nft prints when more came than it could take. */
const LOST = '# ERROR: We lost some netlink events!';

/**
 * Watches what others remove from a table of nftables. What this process removes itself stands between the two marks of its
 * transactions, and what comes after the marks of a load happened after it: the kernel tells in the order of commits.
 */
export function watchRemovals(
  start: StartProgram,
  table: string,
  own: OwnTransactions,
  onRemoved: (removal: Removal) => void,
): Watch {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const open = () => {
    let isOwn = false;
    let lastLoad: number | undefined;
    const program = start('nft', ['monitor', 'destroy'], (line) => {
      const mark = own.told(line);
      if (mark) {
        isOwn = mark.isBegin;
        lastLoad = mark.load;
      } else if (line === LOST) {
        isOwn = false;
        own.missed();
        onRemoved('lost');
      } else if (!isOwn && REMOVED.exec(line)?.[1] === table) onRemoved({ afterLoad: lastLoad });
    });
    void program.ended.then(() => {
      own.missed();
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
