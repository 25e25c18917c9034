import { readFileSync } from 'node:fs';
import {
  credsAuthenticator,
  jwtAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Log } from '../../core/base/ports.ts';
import type { Services } from '../../core/workflow/services.ts';
import { AccountUpdates, type RevocationProblem } from '../../net/bus/account-updates.ts';
import type { BusAddress } from '../../net/bus/bus-address.ts';
import { ExternalBus, type ExternalBusOptions } from '../../net/bus/external-bus.ts';
import { startBusRevocations } from '../../plane/bus-revocations.ts';
import type { Leadership } from '../../plane/leadership.ts';
import type { ExternalBusEnvironment } from './bus-address.ts';
import type { BusKeys, BusUser } from './bus-keys.ts';
import { watchServers } from './bus-servers.ts';
import type { Probe } from './probes.ts';
import { externalBusMetrics, revocationMetrics } from './wire-metrics.ts';
import type { RunningListener } from './wire-parts.ts';

/** Begins to connect to a bus elsewhere; the control plane serves its API meanwhile. */
export function startExternalBus(
  place: BusAddress,
  env: ExternalBusEnvironment,
  busKeys: BusKeys | undefined,
  log: Log,
): Omit<RunningListener, 'address'> & { readonly bus: ExternalBus } {
  let trouble = 'connecting';
  const signIn = busSignIn(place, env, busKeys);
  const bus = new ExternalBus({
    place,
    mode: env.MESH_SIGNALING_AUTH === 'token' ? 'token' : 'open',
    signIn,
    onTrouble(error, lost) {
      const reason = error instanceof Error ? error.message : 'the server closed the connection';
      if (lost !== undefined) {
        log.warn({ server: lost, error: reason }, 'the connection to a server of the bus ended: trying all of them');
      } else if (reason !== trouble) {
        // An outage is said once, not at every attempt.
        const servers = place.servers.join(', ');
        log.error({ servers, error: reason }, 'the bus is not reached: nodes hear of changes late; trying again');
      }
      trouble = reason;
    },
  });
  const servers = watchServers({ place, signIn }, () => bus.server, log);
  bus.onChange(({ kind }) => {
    if (kind !== 'up') return;
    trouble = '';
    servers.lookNow();
    log.info({ server: bus.server }, 'connected to the bus: nodes are sent whole graphs');
  });
  bus.start();
  return {
    bus,
    name: 'bus',
    check: () => probe(bus, { trouble: () => trouble, away: servers.problems }),
    metrics: async () => externalBusMetrics(bus),
    stop() {
      servers.stop();
      return bus.stop();
    },
  };
}

/** Probes the bus. An unreachable bus degrades this process without ending it, because the API serves nodes too. */
async function probe(
  bus: Pick<ExternalBus, 'isUp' | 'roundTrip' | 'server'>,
  { trouble, away }: { readonly trouble: () => string; readonly away: () => readonly string[] },
): Promise<Probe> {
  const isAway = (why: string): Probe => ({
    state: 'degraded',
    detail: `The bus at MESH_BUS_URL is not reached (${why}): nodes hear of changes late, by the API. It is tried again.`,
  });
  if (!bus.isUp) return isAway(trouble());
  try {
    await bus.roundTrip();
    const servers = away();
    if (servers.length === 0) return { state: 'ok', detail: `${bus.server} answers` };
    const said = `Servers of MESH_BUS_URL do not let this control plane in: ${servers.join(', ')}`;
    return {
      state: 'degraded',
      detail: `${said}. ${bus.server} carries the bus: start the others, or name the right ones.`,
    };
  } catch (error) {
    return isAway((error as Error).message);
  }
}

/** Returns the credential with which the control plane signs in to the bus. */
export function busSignIn(
  { login }: BusAddress,
  { MESH_BUS_CREDS: creds }: ExternalBusEnvironment,
  busKeys: BusKeys | undefined,
): ExternalBusOptions['signIn'] {
  if (busKeys) return () => signInAs(busKeys.plane);
  if (creds !== undefined) return () => ({ authenticator: credsAuthenticator(readFileSync(creds)) });
  if (login === undefined) return () => ({});
  const authenticator =
    'token' in login ? tokenAuthenticator(login.token) : usernamePasswordAuthenticator(login.user, login.pass);
  return () => ({ authenticator });
}

function signInAs({ jwt, seed }: BusUser) {
  return { authenticator: jwtAuthenticator(jwt, Buffer.from(seed)) };
}

function logRevocationProblem(
  { kind, reason: error, server }: RevocationProblem,
  { servers }: BusAddress,
  log: Log,
): void {
  switch (kind) {
    case 'lost': {
      const what = 'a connection to a server of the bus ended, by which all are told who was revoked';
      log.warn({ server, error }, `${what}: trying all of them`);
      break;
    }
    case 'unreached': {
      const what = 'no server of the bus is reached: those that run may let in who was revoked';
      log.error({ servers: servers.join(', '), error }, `${what}; trying again`);
      break;
    }
    case 'untold': {
      const what = 'a server of the bus did not pass on who was revoked: servers may let them in';
      log.error({ server, error }, `${what}; trying again`);
      break;
    }
    default:
      kind satisfies never;
  }
}

/** Keeps a bus in token mode told of who lost its place, where this control plane leads the installation's own workspace. */
export async function startAccountUpdates(
  place: BusAddress,
  { account, accounts, system }: BusKeys,
  services: Services,
  leadership: Pick<Leadership, 'leads' | 'onChange'>,
) {
  const { clock, log } = services;
  const updates = new AccountUpdates({
    place,
    account,
    operator: accounts,
    signIn: () => signInAs(system),
    isInCharge: () => leadership.leads(SYSTEM_WORKSPACE),
    now: () => clock.now(),
    onTrouble: (trouble) => logRevocationProblem(trouble, place, log),
    onTold: (server) => log.info({ server }, 'the servers of the bus know again who was revoked'),
  });
  const revocations = await startBusRevocations(services, updates);
  const unsubscribe = leadership.onChange(() => updates.chargeChanged());
  return {
    name: 'bus revocations',
    async check(): Promise<Probe> {
      const { problem } = updates;
      return problem === undefined
        ? { state: 'ok', detail: 'the servers of the bus know who was revoked' }
        : { state: 'degraded', detail: `The servers of the bus may let in who was revoked: ${problem}.` };
    },
    metrics: async () => revocationMetrics(updates),
    async stop() {
      unsubscribe();
      revocations.stop();
      await updates.stop();
    },
  };
}
