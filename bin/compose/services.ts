import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Edition } from '../../core/base/edition.ts';
import { MeshError } from '../../core/base/errors.ts';
import { newId } from '../../core/base/ids.ts';
import type { AnyOperation } from '../../core/base/operation.ts';
import type { Clock, Log, Store } from '../../core/base/ports.ts';
import type { IsDiskFull } from '../../core/base/reserve.ts';
import type { SharedState } from '../../core/base/shared.ts';
import { formatInstant } from '../../core/base/time.ts';
import { mayCall } from '../../core/call/access.ts';
import type { Narrator } from '../../core/cause/narrator.ts';
import type { Computation, ComputationRequest } from '../../core/compute/computation.ts';
import type { RemoteCompute } from '../../core/compute/compute.ts';
import { buildLoginLimits } from '../../core/identity/login-limits.ts';
import type { Planner } from '../../core/intent/plan/planner.ts';
import type { AccessTokenVerifier } from '../../core/model/authorization-server.ts';
import { CallTrace } from '../../core/model/call-trace.ts';
import type { IssuerClient } from '../../core/model/issuers.ts';
import { KeyAllowance } from '../../core/model/key-allowance.ts';
import { buildLiveness } from '../../core/model/liveness.ts';
import { buildOAuthRequests } from '../../core/model/oauth-requests.ts';
import { ReceivedHeartbeats } from '../../core/model/received-heartbeats.ts';
import { ReportedPaths } from '../../core/model/reported-paths.ts';
import type { Keyring, NodeAccess, Settings } from '../../core/model/services.ts';
import { SharedCallTrace } from '../../core/model/shared-call-trace.ts';
import { buildSignInRequests } from '../../core/model/sign-in-requests.ts';
import { buildUsedOnce } from '../../core/model/used-once.ts';
import { Witnesses } from '../../core/model/witnesses.ts';
import type { WorkloadVerifier } from '../../core/model/workload-identity.ts';
import { runExpecting } from '../../core/state/expecting.ts';
import type { ThreadServices } from '../../core/state/services.ts';
import { buildNetworkStates } from '../../core/state/states.ts';
import { buildCallLocks } from '../../core/workflow/call-locks.ts';
import type { Services } from '../../core/workflow/services.ts';
import { planeStore } from '../../core/write/pipeline.ts';
import { nodeJwt } from '../../net/bus/claims.ts';
import { nodeKeyOf } from '../../net/bus/node-key.ts';
import { formatRelayAddress, parseRelayAddress } from '../../net/relay/address.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { buildAccessTokenVerifier } from '../../plane/workloads/access-tokens.ts';
import { buildWorkloadVerifier } from '../../plane/workloads/verifier.ts';
import { issuersOnDemand } from '../../rest/oidc/on-demand.ts';
import { passkeysOnDemand } from '../../rest/passkeys/on-demand.ts';
import { operations } from '../../tools/index.ts';
import { buildYaml } from '../../tools/yaml.ts';
import type { BusKeys } from './bus-keys.ts';
import { grammarReader } from './readers.ts';

export interface ServiceParts {
  readonly store: Store;
  /** The state that control planes on one store share; a single control plane has it in memory. */
  readonly shared?: SharedState | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly edition: Edition;
  readonly keys: Keyring;
  readonly planner: Planner;
  readonly narrator?: Narrator | undefined;
  readonly settings: Settings;
  /** The epoch of graph versions: they rise as long as it is the same. By default each start has a new one. */
  readonly graphEpoch?: string;
  /** Tells whether the disk of the store is full; without it there is always room. */
  readonly isDiskFull?: IsDiskFull;
  /** Computing threads; without them what is heavy is done in place. */
  readonly compute?: RemoteCompute | undefined;
  /** Verifies OIDC tokens of workloads; without it by the keys of their issuers. */
  readonly workloads?: WorkloadVerifier;
  /** Verifies access tokens of another authorization server; without it by the keys that it publishes. */
  readonly accessTokens?: AccessTokenVerifier | undefined;
  /** The keys with which nodes are admitted to an external bus. */
  readonly busKeys?: BusKeys | undefined;
  /** The protocol with issuers of the settings; without it there are none. */
  readonly issuers?: IssuerClient | undefined;
}

/** Builds the services of operations from the parts that differ between a real plane and a test. */
export function buildServices({
  compute,
  busKeys,
  isDiskFull,
  workloads,
  accessTokens,
  issuers,
  store: base,
  ...rest
}: ServiceParts): Services {
  const [states, liveness] = [buildNetworkStates({ store: base }), buildLiveness()];
  const parts = { ...rest, store: planeStore({ store: base, states, clock: rest.clock, isDiskFull }) };
  return {
    ...parts,
    states,
    liveness,
    computed: compute
      ? remoteComputation(compute)
      : localComputation({ ...parts, states, liveness, logs: parts.keys.logs }),
    paths: new ReportedPaths(),
    witnesses: new Witnesses(),
    ...(parts.shared && { hearings: new ReceivedHeartbeats() }),
    ...(busKeys && { keyAllowance: new KeyAllowance() }),
    calls: parts.shared ? new SharedCallTrace(parts.shared.calls, parts) : new CallTrace(),
    logs: parts.keys.logs,
    logins: buildLoginLimits({ ...parts, rules: parts.settings.signIn }),
    yaml: buildYaml(),
    workloads: workloads ?? buildWorkloadVerifier(parts),
    accessTokens: accessTokens ?? buildAccessTokenVerifier(parts),
    nodeAccess: buildNodeAccess(parts, busKeys),
    nextTurn: () => nextTurn(),
    oauthRequests: buildOAuthRequests(parts),
    signInRequests: buildSignInRequests(parts),
    issuers: issuers ?? issuersOnDemand({ issuers: [], ...parts }),
    usedOnce: buildUsedOnce(parts),
    passkeys: passkeysOnDemand(parts.log),
    questions: grammarReader,
    callLocks: buildCallLocks(parts),
    perform: performer(operations),
  };
}

function remoteComputation({ compute }: RemoteCompute): Services['computed'] {
  return async <I, O>({ name }: Computation<never, I, O>, input: I, asker: ComputationRequest) =>
    (await compute({ ...asker, computation: name, input })).parse() as O;
}

function localComputation(services: ThreadServices): Services['computed'] {
  return (computation, input, { workspace }) => computation.run(services, workspace, input);
}

function performer(all: readonly AnyOperation<Services>[]): Services['perform'] {
  const byName = new Map(all.map((operation) => [operation.name, operation]));
  return async (name, input, context) => {
    const operation = byName.get(name);
    if (!operation) throw new MeshError('not_found', `There is no operation ${name} any more: ask for it anew.`);
    const { caller, workspace } = context;
    if (!caller || !mayCall(operation, caller, workspace)) {
      throw new MeshError('forbidden', `${caller.name ?? 'Who asked'} may no longer ask for this.`);
    }
    return runExpecting(operation, operation.input.parse(input), context);
  };
}

/** Nodes renew it at half of its life (net/relay/README.md#credential). */
const RELAY_CREDENTIAL_MS = 24 * 3_600_000;

function buildNodeAccess(
  { keys, settings, graphEpoch = newId('ev') }: Pick<ServiceParts, 'keys' | 'settings' | 'graphEpoch'>,
  busKeys: BusKeys | undefined,
): NodeAccess {
  const relayKeys = relayKeysOf(keys.relayToken.reveal());
  return {
    graphEpoch,
    servers(workspace, publicKey, now) {
      const { relays, stunUrls: stun } = settings;
      const [first] = relays;
      if (first === undefined) return { relay: null, stun };
      const expiresAt = now + RELAY_CREDENTIAL_MS;
      const credential = mintCredential(relayKeys, {
        workspace: workspaceTagOf(workspace),
        publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64')),
        expiresAt,
      });
      const place = parseRelayAddress(first.url);
      const relay = {
        url: first.url,
        credential,
        ...(place && { address: formatRelayAddress({ ...place, credential }) }),
        expiresAt: formatInstant(expiresAt),
      };
      return { relay, ...(relays.length > 1 && { relays }), stun };
    },
    busJwt(workspace, { uid, publicKey, expiresAt }, now) {
      if (busKeys === undefined) return undefined;
      const shared = keys.agree(Uint8Array.from(Buffer.from(publicKey, 'base64')));
      const user = { workspace, peer: uid, key: nodeKeyOf(shared, uid).publicKey };
      return nodeJwt(user, busKeys.account, busKeys.users, now, expiresAt);
    },
  };
}
