export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** A row of the risk table, as `docs/risk.md` shows it. */
interface Row {
  readonly level: RiskLevel;
  readonly does: string;
  readonly to: string;
  readonly from: string;
  readonly during: string;
}

const ANY = 'any';
const ALWAYS = 'for good or for a time';
const row = (level: RiskLevel, does: string, to = ANY, from = ANY, during = ALWAYS): Row => ({
  level,
  does,
  to,
  from,
  during,
});

/** Closings that `autoApprove` carried out in so many ms count into those of the next plan. */
export const CLOSINGS_COUNT_MS = 24 * 3_600_000;

/** Every reason for a risk above that of an opening of few ports between servers, which is low. */
export const RISKS = {
  // Openings
  guardedFromOutside: row(
    'critical',
    'opens a management or database port',
    'any peer',
    'addresses outside of the network',
  ),
  guardedToProduction: row(
    'high',
    'opens a management or database port',
    'a peer with `env=prod`',
    "a person's device or CI",
  ),
  guardedToSeveral: row('high', 'opens a management or database port', 'several peers', "a person's device or CI"),
  guardedToOne: row('medium', 'opens a management or database port', 'one peer', "a person's device or CI"),
  everyPort: row('high', 'opens almost every port of a protocol', ANY),
  manyPorts: row('medium', 'opens 100 ports or more of one target', ANY),
  sensitive: row('high', 'opens any port', 'peers that are marked as sensitive'),
  half: row('high', 'opens half of all pairs of peers or more'),
  defaultToAll: row('critical', 'opens a network by default', 'every peer', 'every peer, later ones too'),
  defaultToSome: row('high', 'opens a network by default', 'devices with some labels', ANY),
  newcomers: row('medium', 'opens any port', ANY, 'devices that join later'),
  opensLater: row('high', 'opens more later', ANY, ANY, 'once policies that cover it have ended'),
  throughDeny: row(
    'high',
    'opens what a `DENY` denied before: by `through` of an order, a change of the policy or labels, or in any other form',
  ),
  narrowsDeny: row('medium', 'deletes or narrows a `DENY`, or takes peers out of it by labels, and opens nothing'),
  anyoneInToSensitive: row('critical', 'opens any port', 'peers that are marked as sensitive', 'anyone outside'),
  anyoneIn: row('high', 'opens any port', 'any peer', 'anyone outside'),
  outsideWithSensitive: row('high', 'opens any port', 'peers that are marked as sensitive', 'addresses outside'),
  rangeIn: row('medium', 'opens any port', 'any peer', 'a range of addresses outside'),
  oneIn: row('low', 'opens any port', 'any peer', 'one address outside'),
  anyoneOut: row('high', 'opens any port', 'anyone outside', 'any peer'),
  rangeOut: row('low', 'opens any port', 'addresses outside', 'any peer'),
  route: row('high', 'routes another block than before: that of a new network too'),
  unmarked: row('high', 'takes the mark of sensitive data away', 'peers that had it'),
  // Closings
  closesAll: row('critical', 'closes all pairs of 8 or more that could talk'),
  closesHalf: row('high', 'ends all traffic of half of the pairs that can talk, of 8 or more'),
  closesMany: row(
    'medium',
    'closes ports of 8 pairs or more, which are a quarter of those that can talk; of 100; or ends all traffic of all pairs, of 3 to 7',
  ),
  cutsOff: row('medium', 'ends the last connection of a peer to other peers, or of other peers to it'),
  closesGuarded: row('medium', 'closes connections', 'production or sensitive peers, or from them'),
  closesLater: row('medium', 'closes connections later, or of devices that join later'),
  closesUnseen: row('high', 'closes more later', ANY, ANY, 'once policies have ended'),
  closesCaller: row('high', 'closes connections', 'the caller', 'the caller'),
  closes: row('low', 'closes anything else'),
  // Others
  touches: row('medium', 'touches more than a quarter of all peers, and 8 or more'),
  locksOutControl: row('critical', 'cuts peers off from the control plane'),
  locksOut: row('high', 'locks the caller or the administrators out'),
  beyondDelegation: row('high', 'is beyond what the agent was delegated'),
  breaksControl: row('medium', 'fails a control of a framework in force'),
} as const satisfies Record<string, Row>;
export type RiskRow = keyof typeof RISKS;

/** Ports by which a host or its data is managed; one of them to a person's device or CI is at least medium. */
export const GUARDED_PORTS: Readonly<Record<string, readonly number[]>> = {
  management: [22, 23, 111, 135, 139, 445, 623, 2375, 2376, 2379, 2380, 3389, 5900, 5985, 5986, 6443, 8006, 10250],
  database: [1433, 1521, 3306, 5432, 5984, 6379, 7000, 7687, 8086, 9042, 9200, 9300, 11211, 26257, 27017, 50000],
};

/** Words in a name or label that mark a person's device or CI. */
export const PERSONAL_WORDS: readonly string[] = [
  ...['laptop', 'notebook', 'macbook', 'mac', 'imac', 'desktop', 'workstation', 'pc', 'phone', 'iphone', 'ipad'],
  ...['tablet', 'mobile', 'byod', 'ci', 'runner', 'runners', 'build', 'builder', 'jenkins', 'gitlab', 'github'],
];

/** Labels that say what a server is for. A peer without any of them counts as a person's device. */
export const SERVICE_LABELS: readonly string[] = ['role', 'app', 'service', 'component', 'tier', 'workload'];

/** Platforms of people's devices, whatever their labels say. */
export const PERSONAL_PLATFORMS: readonly string[] = ['macos', 'ios'];

export const PRODUCTION_LABELS: readonly string[] = ['env', 'environment', 'stage'];
export const PRODUCTION_VALUES: readonly string[] = ['prod', 'production'];
