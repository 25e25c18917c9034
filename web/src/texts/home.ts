interface ChangeCount {
  readonly count: number;
  readonly is_complete: boolean;
  readonly kinds: Readonly<Record<string, number | undefined>>;
}

type Noun = readonly [one: string, many: string];

const NOUNS: Readonly<Record<string, Noun>> = {
  MeshPeer: ['peer', 'peers'],
  MeshPolicy: ['policy', 'policies'],
  MeshNetwork: ['network', 'networks'],
  AgentIdentity: ['agent', 'agents'],
  PolicyAssertion: ['assertion', 'assertions'],
  Token: ['token', 'tokens'],
  Member: ['member', 'members'],
  Workspace: ['setting', 'settings'],
  Webhook: ['webhook', 'webhooks'],
};

function countText(count: number, [one, many]: Noun): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

export const home = {
  title: 'Home',
  waiting: 'Waiting for you',
  nothingWaits: 'Nothing waits for a decision.',
  all: (count: number) => `All ${count} in Review`,
  reviewOpen: (kind: string) => `A review of ${kind} is open`,
  due: 'due',
  reviewOverdue: (kind: string) => `A review of ${kind} is overdue`,
  steps: 'Next steps',
  stepsWhy: 'A network begins with a device, an agent that works on it, and a policy that says who may reach whom.',
  done: 'done',
  addDevice: 'Add a device',
  addDeviceWhy: 'One command on the device, or a code to scan.',
  connectAgent: 'Connect an agent',
  connectAgentWhy: 'A token of its own, and the configuration of its client to copy.',
  firstPolicy: 'Write a first policy',
  firstPolicyWhy: 'Without one every peer reaches every other.',
  warnings: 'See to this',
  toWarning: {
    'open-network': 'Write a policy',
    'approval-ended': 'Approval',
    'first-password': 'People',
    'bus-exposure': 'System',
  },
  network: 'Network',
  online: (online: number, all: number) => `${online} of ${all} ${all === 1 ? 'peer' : 'peers'} online`,
  pending: (count: number) => `${count} waiting to be let in`,
  noPeers: 'No peers yet.',
  paths: (direct: number) => `${direct} % of paths are direct, ${100 - direct} % go by the relay`,
  pathsLabel: (direct: number) => `${direct} % direct`,
  noPaths: 'No device has reported a path yet.',
  policies: (count: number) => `${count} ${count === 1 ? 'policy' : 'policies'}`,
  agents: 'Agents at work',
  noAgents: 'No agent is at work.',
  ends: 'ends',
  changes: 'Changes since yesterday',
  noChanges: 'Nothing changed since yesterday.',
  changed: ({ count, is_complete: isComplete, kinds }: ChangeCount) => {
    const parts = Object.entries(kinds).map(([kind, changed]) => countText(changed ?? 0, NOUNS[kind] ?? [kind, kind]));
    const all = countText(count, ['change', 'changes']);
    return `${isComplete ? '' : 'At least '}${all}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
  },
  by: (isRejected: boolean, who: string) => `${isRejected ? 'rejected' : 'approved'} by ${who}`,
  compliance: 'Compliance',
  noAssessment: 'Nothing was assessed yet.',
  assess: 'Assess it',
  score: (score: number) => `${score} of 100`,
  drift: (count: number) => `${count} ${count === 1 ? 'control' : 'controls'} changed`,
  frameworks: { 'pci-dss': 'PCI DSS', soc2: 'SOC 2', hipaa: 'HIPAA' },
  more: 'See all',
} as const;
