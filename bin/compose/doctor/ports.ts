import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';
import type { HostPort } from '../../../net/host-port.ts';
import { apiExposure } from '../api-exposure.ts';
import { probeStun, probeTcp } from '../probes.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';

/** Each listener: whether it answers where a control plane runs, and whether it could be opened where none does; and who can read what is sent to the API. */
export const checkPorts: Check = async ({ config, isRunning }) => {
  const { env } = config;
  const listeners = [
    ['API', 'MESH_LISTEN', env.MESH_LISTEN, 'tcp'],
    ['bus', 'MESH_BUS_LISTEN', env.MESH_BUS_LISTEN, 'tcp'],
    ['relay', 'MESH_RELAY_LISTEN', env.MESH_RELAY_LISTEN, 'tcp'],
    ['STUN', 'MESH_STUN_LISTEN', env.MESH_STUN_LISTEN, 'udp'],
  ] as const;
  const findings: Finding[] = [];
  for (const [what, variable, place, protocol] of listeners) {
    if (place === 'off' || place.port === 0) continue;
    const named = `The ${what} (${variable}, ${place.host}:${place.port}/${protocol})`;
    findings.push(isRunning ? await answers(named, place, protocol) : await isFree(named, place, protocol));
  }
  const { warning: clear } = apiExposure(config);
  return clear === undefined ? findings : [...findings, warning(clear)];
};

async function answers(named: string, place: HostPort, protocol: 'tcp' | 'udp'): Promise<Finding> {
  const { state, detail } = await (protocol === 'tcp' ? probeTcp : probeStun)(place);
  return state === 'ok' ? ok(`${named} ${detail}.`) : failed(`${named} ${detail}`);
}

async function isFree(named: string, place: HostPort, protocol: 'tcp' | 'udp'): Promise<Finding> {
  try {
    await (protocol === 'tcp' ? openTcp(place) : openUdp(place));
    return ok(`${named} can be opened.`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another program has it' : message;
    return failed(`${named} cannot be opened (${why}): end that program, or choose another port.`);
  }
}

async function openTcp({ host, port }: HostPort): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

async function openUdp({ host, port }: HostPort): Promise<void> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    socket.bind(port, host);
    await once(socket, 'listening');
  } finally {
    socket.close();
  }
}
