import type { PeerEntry, PolicySpec, PortEntry, Selector } from '../../api/types.ts';
import { ParsedField } from './parsed-field.tsx';
import { PartFaults } from './part-faults.tsx';
import { portsOf, portsText } from './ports-text.ts';
import { SelectorFields } from './selector-fields.tsx';
import { namesOf } from './selector-text.ts';

export type Direction = 'ingress' | 'egress';

/** A rule of either direction: who is at the other end, on which ports. */
interface Rule {
  readonly ends: readonly PeerEntry[];
  readonly ports: readonly PortEntry[];
}

interface RulesProps {
  readonly direction: Direction;
  /** Undefined where the policy is not about this direction. */
  readonly rules: PolicySpec[Direction];
  readonly change: (rules: PolicySpec[Direction]) => void;
}

/** Narrow until somebody widens it. */
const NEW_RULE: Rule = { ends: [{ peerSelector: {} }], ports: [{ protocol: 'TCP', port: 443 }] };

export function RulesForm({ direction, rules, change }: RulesProps) {
  const at = `/spec/${direction}`;
  const read = rules?.map((rule): Rule => {
    const ends = direction === 'ingress' ? (rule as Ingress).from : (rule as Egress).to;
    return { ends: ends ?? [], ports: rule.ports ?? [] };
  });
  const write = (next: readonly Rule[] | undefined) => change(next?.map((rule) => writtenRule(direction, rule)));
  return (
    <fieldset class="stack direction">
      <legend>{direction === 'ingress' ? 'Connections to them (ingress)' : 'Connections from them (egress)'}</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={read !== undefined}
          onChange={({ currentTarget }) => write(currentTarget.checked ? [] : undefined)}
        />
        {direction === 'ingress' ? 'Applies to connections to these peers' : 'Applies to connections from these peers'}
      </label>
      {read?.length === 0 && <p class="dim">No rules: nothing is allowed.</p>}
      {read?.map((rule, index) => (
        <RuleForm
          key={index}
          direction={direction}
          number={index + 1}
          at={`${at}/${index}`}
          rule={rule}
          change={(next) => write(read.with(index, next))}
          remove={() => write(read.toSpliced(index, 1))}
        />
      ))}
      {read && (
        <div class="row">
          <button type="button" onClick={() => write([...read, NEW_RULE])}>
            Add a rule
          </button>
        </div>
      )}
      <PartFaults at={at} />
    </fieldset>
  );
}

type Ingress = NonNullable<PolicySpec['ingress']>[number];
type Egress = NonNullable<PolicySpec['egress']>[number];

function writtenRule(direction: Direction, { ends, ports }: Rule): Ingress | Egress {
  return {
    ...(ends.length > 0 && { [direction === 'ingress' ? 'from' : 'to']: [...ends] }),
    ...(ports.length > 0 && { ports: [...ports] }),
  };
}

interface RuleProps {
  readonly direction: Direction;
  readonly number: number;
  /** Its pointer in the policy. */
  readonly at: string;
  readonly rule: Rule;
  readonly change: (rule: Rule) => void;
  readonly remove: () => void;
}

function RuleForm({ direction, number, at, rule, change, remove }: RuleProps) {
  const { ends, ports } = rule;
  const end = direction === 'ingress' ? 'From' : 'To';
  return (
    <fieldset class="stack rule">
      <legend class="visually-hidden">Rule {number}</legend>
      <div class="row">
        <span class="label" aria-hidden="true">
          Rule {number}
        </span>
        <button type="button" class="link push" onClick={remove} aria-label={`Remove rule ${number}`}>
          Remove
        </button>
      </div>
      <p>
        <span class="label">{end}</span> {ends.length === 0 && 'anyone'}
      </p>
      {ends.map((entry, index) => (
        <EntryForm
          key={index}
          number={index + 1}
          at={`${at}/${end.toLowerCase()}/${index}`}
          entry={entry}
          change={(next) => change({ ...rule, ends: ends.with(index, next) })}
          remove={() => change({ ...rule, ends: ends.toSpliced(index, 1) })}
        />
      ))}
      <div class="row">
        <button type="button" class="quiet" onClick={() => change({ ...rule, ends: [...ends, { peerSelector: {} }] })}>
          + Add peers or addresses
        </button>
      </div>
      <ParsedField
        label="Ports"
        hint="As TCP 5432, UDP 6000-6100, ICMP. Empty: everything."
        at={[`${at}/ports`]}
        value={ports}
        text={portsText}
        read={(text) => {
          const value = portsOf(text);
          return typeof value === 'string' ? { fault: `“${value}” is not a port. Write it as TCP 5432.` } : { value };
        }}
        change={(value) => change({ ...rule, ports: value })}
      />
      <PartFaults at={at} />
    </fieldset>
  );
}

type EntryKind = 'anyone' | 'peers' | 'addresses';
const FRESH: Record<EntryKind, PeerEntry> = {
  anyone: '*',
  peers: { peerSelector: {} },
  addresses: { ipBlock: { cidr: '' } },
};

function EntryForm({
  number,
  at,
  entry,
  change,
  remove,
}: {
  number: number;
  at: string;
  entry: PeerEntry;
  change: (entry: PeerEntry) => void;
  remove: () => void;
}) {
  const block = entry === '*' ? undefined : entry.ipBlock;
  const kind: EntryKind = entry === '*' ? 'anyone' : block ? 'addresses' : 'peers';
  return (
    <div class="entry stack-small">
      <div class="row">
        <select
          aria-label={`Who, ${number}`}
          value={kind}
          onChange={({ currentTarget }) => change(FRESH[currentTarget.value as EntryKind])}
        >
          {Object.keys(FRESH).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <button type="button" class="link push" onClick={remove}>
          Remove
        </button>
      </div>
      {entry !== '*' && kind === 'peers' && (
        <SelectorFields
          selector={entry.peerSelector ?? ({} as Selector)}
          at={`${at}/peerSelector`}
          change={(peerSelector = {}) => change({ peerSelector })}
        />
      )}
      {block && <BlockFields block={block} at={`${at}/ipBlock`} change={(ipBlock) => change({ ipBlock })} />}
      <PartFaults at={at} />
    </div>
  );
}

type Block = NonNullable<Exclude<PeerEntry, '*'>['ipBlock']>;

interface BlockProps {
  readonly block: Block;
  readonly at: string;
  readonly change: (block: Block) => void;
}

function BlockFields({ block: { cidr, except = [] }, at, change }: BlockProps) {
  const blockOf = (of: string, without: readonly string[]) => ({
    cidr: of,
    ...(without.length > 0 && { except: [...without] }),
  });
  return (
    <div class="selector">
      <ParsedField
        label="Addresses"
        hint="As 203.0.113.0/24."
        at={[`${at}/cidr`]}
        value={cidr}
        text={(value) => value}
        read={(text) => ({ value: text.trim() })}
        change={(value) => change(blockOf(value, except))}
      />
      <ParsedField
        label="Except these addresses"
        at={[`${at}/except`]}
        value={except}
        text={(value) => value.join(' ')}
        read={(text) => ({ value: namesOf(text) })}
        change={(value) => change(blockOf(cidr, value))}
      />
    </div>
  );
}
