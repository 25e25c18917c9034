import { readFileSync } from 'node:fs';
import { type BusAddress, parseBusUrl } from '../../net/bus/bus-address.ts';
import type { Environment } from './config.ts';

export type ExternalBusEnvironment = Pick<
  Environment,
  'MESH_BUS_URL' | 'MESH_BUS_CREDS' | 'MESH_BUS_CA' | 'MESH_BUS_KEYS_FILE' | 'MESH_SIGNALING_AUTH'
>;

/** Where the bus of MESH_BUS_URL is; undefined where it is in this process. */
export function busAddressOf({ MESH_BUS_URL, MESH_BUS_CA }: ExternalBusEnvironment): BusAddress | undefined {
  if (MESH_BUS_URL === undefined) return undefined;
  const place = parseBusUrl(MESH_BUS_URL.reveal());
  if ('problem' in place) throw new Error(`MESH_BUS_URL: ${place.problem}`);
  return MESH_BUS_CA === undefined ? place : { ...place, ca: readFileSync(MESH_BUS_CA, 'utf8') };
}
