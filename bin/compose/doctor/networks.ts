import { type ReservedRange, refusalOfBlock } from '../../../core/changes/change-checks.ts';
import { controlRanges } from '../../../core/intent/verify/lock-out.ts';
import { isPublicBlock } from '../../../core/model/network-blocks.ts';
import type { NetworkRecord } from '../../../core/model/resources.ts';
import { addressSettings } from '../configured-addresses.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';
import { readStates } from './read-states.ts';

/** Networks whose block would be refused now: those that an earlier version allowed, or that a new setting meets. */
export const checkNetworks: Check = async (subject) => {
  const states = await readStates(subject);
  if (!states) return [];
  const reserved = controlRanges(addressSettings(subject.config));
  const networks = states.flatMap((state) => [...state.networks.values()]);
  const found = networks.flatMap((network) => findingOf(network, reserved) ?? []);
  return found.length > 0 ? found : [ok(`${networks.length} networks, all with a private block of their own.`)];
};

function findingOf({ workspace, name, spec }: NetworkRecord, reserved: readonly ReservedRange[]): Finding | undefined {
  if (typeof spec.cidr !== 'string')
    return failed(`The network ${name} of the workspace ${workspace} is damaged: its spec has no block (cidr).`);
  const which = `The network ${name} of the workspace ${workspace} keeps its block`;
  const refused = refusalOfBlock(spec.cidr, reserved);
  if (refused !== undefined) {
    return warning(`${which}, which a new network could not have: ${refused} Nodes that join now do not route it.`);
  }
  if (!isPublicBlock(spec.cidr)) return undefined;
  return warning(
    `${which} ${spec.cidr}, which is public: nodes that join now route it only with --accept-routes ${spec.cidr}.`,
  );
}
