import { CHOSEN, type PlatformChoice } from './choice.ts';
import type { Datagrams } from './datagrams.ts';
import { linuxDatagrams } from './linux/datagrams.ts';
import { linuxStreams } from './linux/streams.ts';
import { plainDatagrams } from './plain/datagrams.ts';
import { plainStreams } from './plain/streams.ts';
import type { Streams } from './streams.ts';

export interface Platform {
  readonly datagrams: Datagrams;
  readonly streams: Streams;
}

/** @param system by Node's name for it */
export function platformOf(choice: PlatformChoice, system: NodeJS.Platform = process.platform): Platform {
  return choice === 'auto' && system === 'linux'
    ? { datagrams: linuxDatagrams, streams: linuxStreams }
    : { datagrams: plainDatagrams, streams: plainStreams };
}

/** What this process works with. */
export const { datagrams, streams } = platformOf(CHOSEN);
