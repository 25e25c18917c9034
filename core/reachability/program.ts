import { type IpRange, parseCidr } from '../model/cidr.ts';
import {
  type EgressRule,
  egressRuleSchema,
  type PeerEntry,
  type PolicySpec,
  policySpecSchema,
  type Selector,
  selectorSchema,
} from '../model/policy.ts';
import { endOf, isolates, matchesAnyone, rulesOf, waits } from '../model/policy-match.ts';
import type { Direction, PolicyInput } from './model.ts';
import { ALL_PORTS, type PortSetId, type PortSets } from './port-sets.ts';

/** A compiled policy: selectors and blocks parsed, ports interned. Equal specs give the same object. */
export interface PolicyCode {
  /** Distinct for distinct content; part of the key under which computed rows are kept. */
  readonly id: number;
  readonly allow: boolean;
  readonly network: string | undefined;
  readonly subject: Selector;
  readonly expiresAt: number;
  /** True for a direction in which the policy isolates its subjects (docs/policy.md#isolation). */
  readonly isolates: Readonly<Record<Direction, boolean>>;
  /** Undefined where the policy says nothing about the direction; no rules means that it only isolates. */
  readonly egress: readonly RuleCode[] | undefined;
  readonly ingress: readonly RuleCode[] | undefined;
}

/** A policy that is in force, beside its compiled form. */
export interface ActivePolicy {
  readonly name: string;
  readonly spec: unknown;
  readonly code: PolicyCode;
}

/** The policies in force at an instant, ms: those that have begun and have not ended. */
export function activePolicies(codes: PolicyCodes, policies: readonly PolicyInput[], now: number): ActivePolicy[] {
  return policies
    .filter(({ spec }) => !waits(spec))
    .map(({ name, spec }) => ({ name, spec, code: codes.of(spec) }))
    .filter(({ code }) => code.expiresAt > now);
}

export interface RuleCode {
  readonly anyone: boolean;
  readonly selectors: readonly Selector[];
  readonly blocks: readonly BlockCode[];
  readonly ports: PortSetId;
}

export interface BlockCode {
  readonly cidr: IpRange;
  readonly except: readonly IpRange[];
}

const ANYTHING: RuleCode = { anyone: true, selectors: [], blocks: [], ports: ALL_PORTS };

/** Turns stored specs into {@link PolicyCode}, each distinct content once. */
export class PolicyCodes {
  readonly #ports: PortSets;
  readonly #byObject = new WeakMap<object, PolicyCode>();
  readonly #byContent = new Map<string, PolicyCode>();

  constructor(ports: PortSets) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#byContent.size;
  }

  of(spec: unknown): PolicyCode {
    const holder = typeof spec === 'object' && spec !== null ? spec : undefined;
    const seen = holder && this.#byObject.get(holder);
    if (seen) return seen;
    const content = JSON.stringify(spec) ?? 'undefined';
    const code = this.#byContent.get(content) ?? this.#translate(spec, this.#byContent.size);
    this.#byContent.set(content, code);
    if (holder) this.#byObject.set(holder, code);
    return code;
  }

  /** The rules of a root agent's `reach`; an unreadable one is left out, so that it opens nothing. */
  ofReach(reach: readonly EgressRule[]): RuleCode[] {
    return reach.flatMap((rule) => {
      const { success, data } = egressRuleSchema.safeParse(rule);
      return success ? [this.#ruleOf(data.to ?? [], data.ports ?? [])] : [];
    });
  }

  #translate(spec: unknown, id: number): PolicyCode {
    const parsed = policySpecSchema.safeParse(spec);
    return parsed.success ? this.#codeOf(parsed.data, id) : failClosed(spec, id);
  }

  #codeOf(spec: PolicySpec, id: number): PolicyCode {
    const translate = (direction: Direction) =>
      rulesOf(spec, direction)?.map(({ peers, ports }) => this.#ruleOf(peers, ports));
    return {
      id,
      allow: spec.action === 'ALLOW',
      network: spec.network,
      subject: spec.peerSelector ?? {},
      expiresAt: endOf(spec),
      isolates: { egress: isolates(spec, 'egress'), ingress: isolates(spec, 'ingress') },
      egress: translate('egress'),
      ingress: translate('ingress'),
    };
  }

  #ruleOf(peers: readonly PeerEntry[], ports: Parameters<PortSets['ofEntries']>[0]): RuleCode {
    const selectors: Selector[] = [];
    const blocks: BlockCode[] = [];
    for (const entry of peers) {
      if (entry === '*') continue;
      if (entry.peerSelector) selectors.push(entry.peerSelector);
      else if (entry.ipBlock) blocks.push(blockOf(entry.ipBlock));
    }
    return { anyone: matchesAnyone(peers), selectors, blocks, ports: this.#ports.ofEntries(ports) };
  }
}

function blockOf({ cidr, except }: { cidr: string; except?: string[] | undefined }): BlockCode {
  const range = parseCidr(cidr);
  if (range === undefined) throw new TypeError(`not a CIDR: ${cidr}`);
  return { cidr: range, except: (except ?? []).flatMap((text) => parseCidr(text) ?? []) };
}

/** Compiles a spec that cannot be read, so that it allows nothing: an ALLOW isolates, anything else denies everything. */
function failClosed(spec: unknown, id: number): PolicyCode {
  const fields = typeof spec === 'object' && spec !== null ? (spec as Record<string, unknown>) : {};
  const allow = fields['action'] === 'ALLOW';
  const subject = selectorSchema.safeParse(fields['peerSelector'] ?? {});
  const network = fields['network'];
  const rules = allow ? [] : [ANYTHING];
  return {
    id,
    allow,
    network: typeof network === 'string' ? network : undefined,
    subject: subject.success ? subject.data : {},
    expiresAt: Number.POSITIVE_INFINITY,
    isolates: { egress: allow, ingress: allow },
    egress: rules,
    ingress: rules,
  };
}
