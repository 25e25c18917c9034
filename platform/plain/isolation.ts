import type { LoadIsolation } from '../isolation.ts';

/** Node isolates nothing by itself. */
export const plainIsolation: LoadIsolation = async (onMissing) => {
  onMissing('it needs Linux, and MESH_PLATFORM other than plain');
  return undefined;
};
