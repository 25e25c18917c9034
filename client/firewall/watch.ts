import type { StartProgram } from '../run-program.ts';
import type { OwnTransactions } from './own-transaction.ts';

export interface Watch {
  close(): Promise<void>;
}

export interface WatchHandlers {
  onRemoved(removal: Removal): void;
  /** Rules that are no node's are others from now on, or may be: told of each. */
  onHostChanged(): void;
}

/** A removal from a table by someone else, after the load of that number; `lost` when nft missed events of the kernel. */
export type Removal = { readonly afterLoad: number | undefined } | 'lost';

/** After the watching program ended: it is started again. */
const AGAIN_MS = 1_000;
/** `delete rule inet mesh_mesh0 c_input handle 7`, `add chain ip filter INPUT { … policy drop; }` */
const CHANGE = /^(\w+) \w+ (ip|ip6|inet|arp|bridge|netdev) (\S+)/;
/** Tables of nodes, of which each minds its own. */
const OF_NODES = 'mesh_';
/** Line that nft prints after it missed events. */
const LOST = '# ERROR: We lost some netlink events!';

/**
 * Watches what others remove from a table of nftables, and what changes in tables that are no node's. What this process removes itself stands between the two marks of its
 * transactions, and what comes after the marks of a load happened after it: the kernel tells in the order of commits.
 */
export function watchChanges(
  start: StartProgram,
  table: string,
  own: OwnTransactions,
  { onRemoved, onHostChanged }: WatchHandlers,
): Watch {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const open = () => {
    let isOwn = false;
    let lastLoad: number | undefined;
    const program = start('nft', ['monitor'], (line) => {
      const mark = own.told(line);
      if (mark) {
        isOwn = mark.isBegin;
        lastLoad = mark.load;
      } else if (line === LOST) {
        isOwn = false;
        own.missed();
        onRemoved('lost');
        onHostChanged();
      } else if (!isOwn) {
        const [, verb, family, of = OF_NODES] = CHANGE.exec(line) ?? [];
        if (verb === 'delete' && family === 'inet' && of === table) onRemoved({ afterLoad: lastLoad });
        if (!of.startsWith(OF_NODES)) onHostChanged();
      }
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
