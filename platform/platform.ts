import { CHOSEN, type PlatformChoice } from './choice.ts';
import type { ConnectionOwner } from './connection-owner.ts';
import type { Datagrams } from './datagrams.ts';
import type { LoadIsolation } from './isolation.ts';
import { linuxConnectionOwner } from './linux/connection-owner.ts';
import { linuxDatagrams } from './linux/datagrams.ts';
import { linuxIsolation } from './linux/isolation.ts';
import { linuxStreams } from './linux/streams.ts';
import { plainConnectionOwner } from './plain/connection-owner.ts';
import { plainDatagrams } from './plain/datagrams.ts';
import { plainIsolation } from './plain/isolation.ts';
import { plainStreams } from './plain/streams.ts';
import type { Streams } from './streams.ts';

export interface Platform {
  readonly datagrams: Datagrams;
  readonly streams: Streams;
  readonly connectionOwner: ConnectionOwner;
  readonly loadIsolation: LoadIsolation;
}

/** @param system by Node's name for it */
export function platformOf(choice: PlatformChoice, system: NodeJS.Platform = process.platform): Platform {
  return choice === 'auto' && system === 'linux'
    ? {
        datagrams: linuxDatagrams,
        streams: linuxStreams,
        connectionOwner: linuxConnectionOwner,
        loadIsolation: linuxIsolation,
      }
    : {
        datagrams: plainDatagrams,
        streams: plainStreams,
        connectionOwner: plainConnectionOwner,
        loadIsolation: plainIsolation,
      };
}

/** The platform of this process. */
export const { datagrams, streams, connectionOwner, loadIsolation } = platformOf(CHOSEN);
