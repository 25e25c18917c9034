import type { Join } from './library/api.ts';
import { joinNetwork } from './library/join.ts';

/** The library: a peer in this process (docs/userspace.md#in-a-program). */

export type * from './library/api.ts';
export const join: Join = joinNetwork;
