import type { LoadIsolation } from '../isolation.ts';
import { CLibrary } from './c-library.ts';
import { loadKoffi } from './libc.ts';
import { linuxMounts } from './mounts.ts';
import { linuxPackets } from './packets.ts';
import { linuxRights } from './rights.ts';
import { linuxNetwork } from './sandbox-network.ts';
import { linuxTerminals } from './terminals.ts';

export const linuxIsolation: LoadIsolation = async (onMissing) => {
  const koffi = await loadKoffi(onMissing);
  if (!koffi) return undefined;
  const library = new CLibrary(koffi);
  return {
    ...linuxMounts(library),
    ...linuxNetwork(library),
    ...linuxTerminals(library),
    ...linuxRights(koffi, library),
    ...linuxPackets(library),
  };
};
