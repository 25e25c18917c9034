import { busAddressOf } from '../bus-address.ts';
import { readBusKeys } from '../bus-keys.ts';
import { problemAt } from '../bus-servers.ts';
import { busSignIn } from '../external-bus.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';

const REMEDY =
  'Start it, or name the right one; where it is there and refuses, look at what the control plane signs in with (MESH_BUS_KEYS_FILE, MESH_BUS_CREDS, or in MESH_BUS_URL).';

/** Each server of MESH_BUS_URL, with what a control plane signs in with. Nothing is sent to nodes. */
export const checkBus: Check = async ({ config: { env } }) => {
  const place = busAddressOf(env);
  if (!place) return [];
  const { MESH_BUS_KEYS_FILE: file } = env;
  const signIn = busSignIn(place, env, file === undefined ? undefined : readBusKeys(file));
  const tried = await Promise.all(
    place.servers.map((server) => problemAt(server, { place, signIn, name: 'meshd doctor' })),
  );
  const isAway = tried.every((problem) => problem !== undefined);
  return place.servers.map((server, nth): Finding => {
    const problem = tried[nth];
    if (problem === undefined) return ok(`${server}, of MESH_BUS_URL, lets this control plane in.`);
    const said = `${server}, of MESH_BUS_URL, does not let this control plane in (${problem})`;
    return isAway
      ? failed(`${said}: nodes hear of changes late, by the API. ${REMEDY}`)
      : warning(`${said}: the others carry the bus while they answer.`);
  });
};
