import type { Change, Commit } from '../core/base/ports.ts';
import { isOfKind } from '../core/base/written-record.ts';
import { type TokenRecord, tokenName } from '../core/model/token-record.ts';
import type { Services } from '../core/workflow/services.ts';
import type { EmbeddedBus } from '../net/nats/bus.ts';

type CredentialBus = Pick<EmbeddedBus, 'setCredentials' | 'removeCredentials'>;

/** Devices named in one line of the log. */
const MAX_LISTED = 20;

/** Keeps the bus told of the credential of each device (MESH_SIGNALING_AUTH=token), now and as devices come and go. */
export async function startBusCredentials(
  { store, log }: Pick<Services, 'store' | 'log'>,
  bus: CredentialBus,
): Promise<{ stop(): void }> {
  const grant = (workspace: string, { spec }: TokenRecord) => {
    if (spec.kind !== 'dev' || spec.busDigest === undefined) return;
    // Taken away first: connections made with the secret before end.
    bus.removeCredentials([spec.owner]);
    bus.setCredentials([{ id: spec.owner, digest: spec.busDigest, workspace, peer: spec.owner }]);
  };
  const readAgain = async (workspace: string, peer: string) => {
    const token = await store.get(workspace, { kind: 'Token', name: tokenName('dev', peer) });
    if (token) grant(workspace, token);
  };
  const take = ({ workspace, changes }: Commit) => {
    for (const change of changes) {
      if (isOfKind(change, 'Token')) {
        const { type, record: token } = change;
        if (type !== 'deleted') grant(workspace, token);
        else if (token.spec.kind === 'dev') bus.removeCredentials([token.spec.owner]);
      } else if (isOfKind(change, 'MeshPeer')) {
        const { record, before } = change;
        if (isBlocked(change)) bus.removeCredentials([record.uid]);
        else if (before?.status.phase === 'revoked') {
          readAgain(workspace, record.uid).catch((error: unknown) =>
            log.error({ peer: record.uid, error: String(error) }, 'a device got no bus credential'),
          );
        }
      }
    }
  };
  const stop = store.onCommit(take);
  for (const workspace of await store.workspaces()) {
    const [tokens, peers] = await Promise.all([store.list(workspace, 'Token'), store.list(workspace, 'MeshPeer')]);
    const live = new Set(peers.items.filter((p) => p.status.phase !== 'revoked').map((p) => p.uid));
    const held = tokens.items.filter(({ spec }) => spec.kind === 'dev' && live.has(spec.owner));
    for (const token of held) grant(workspace, token);
    const without = held.filter(({ spec }) => spec.busDigest === undefined).map(({ spec }) => spec.name);
    if (without.length > 0) {
      log.warn(
        { workspace, devices: without.length, names: without.slice(0, MAX_LISTED) },
        'devices have no credential of the bus and are refused there: each calls POST /api/v1/devices/self/key with a ' +
          'fresh key, or registers again',
      );
    }
  }
  return { stop };
}

function isBlocked({ type, record }: Change<'MeshPeer'>): boolean {
  return type === 'deleted' || record.status.phase === 'revoked';
}
