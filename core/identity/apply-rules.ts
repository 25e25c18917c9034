import { invalidInput } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import { foldName, type RecordDraft } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { exclusionReason } from '../model/file-records.ts';
import { normalizeName } from '../model/resources.ts';
import { ruleToken, withAddress } from '../model/token.ts';
import { isWorkloadRule, type TokenRecord, type TokenSpec } from '../model/token-record.ts';
import { sameValue } from '../model/value.ts';
import { toYaml } from '../views/render-yaml.ts';
import { ruleDocument } from '../views/workload-rule.ts';
import { requireScope } from './grants.ts';
import { grantedSpec, type JoinTokenCall, joinTokenSpec, ruleDraft } from './join-tokens.ts';
import { refuseDoubles } from './refuse-doubles.ts';
import type { RuleManifest } from './rule-manifest.ts';
import { tokensOf } from './token-lists.ts';
import { withDocument } from './with-document.ts';

/** The result of one document, or of a rule that no document is of. */
export interface RuleResult {
  readonly name: string;
  readonly result: 'created' | 'updated' | 'unchanged' | 'deleted' | 'ended';
  /** Its workloads pass it to `mesh init --token`. */
  readonly joinToken?: string;
}

export interface RulesToApply {
  readonly ops: readonly Op[];
  readonly applied: readonly RuleResult[];
  /** As people read them. */
  readonly changes: readonly RuleChange[];
}

interface RuleChange {
  readonly action: 'create' | 'update' | 'delete';
  readonly resource: 'WorkloadRule';
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface RulesAsked {
  readonly manifests: readonly RuleManifest[];
  /** True where rules that no document names are deleted. */
  readonly isPruning: boolean;
  /** True where a rule that has expired counts as absent; else it is refused. */
  readonly saysAll: boolean;
  /** Networks that are made together with them. */
  readonly made: ReadonlySet<string>;
}

/**
 * The rules for workloads that documents ask for, each made as `generate_join_token` makes one for workloads: who changes a rule
 * could have made it so. Its uses stay.
 *
 * @param at where a document stands in the request
 * @throws MeshError as that operation does, `forbidden` for who makes no join tokens
 */
export async function applyRules(
  context: JoinTokenCall,
  { manifests, isPruning, saysAll, made }: RulesAsked,
  at: (index: number) => string,
): Promise<RulesToApply> {
  if (manifests.length === 0 && !isPruning) return { ops: [], applied: [], changes: [] };
  requireScope(context, 'tokens:write');
  refuseDoubles('rule', manifests, at);
  const { services, workspace, caller } = context;
  const { peers } = await services.states.current(workspace);
  const tokens = (await tokensOf(services, workspace, 'join')).filter(isWorkloadRule);
  const stored = new Map(tokens.map((token) => [foldName(token.spec.name), token]));
  const ops: Op[] = [];
  const applied: RuleResult[] = [];
  const changes: RuleChange[] = [];
  const yaml = (record: Pick<TokenRecord, 'spec' | 'labels' | 'annotations'>) => toYaml(ruleDocument(record, peers));
  const kept = new Set<string>();
  for (const [index, manifest] of manifests.entries()) {
    const given = normalizeName(manifest.metadata.name);
    const held = stored.get(foldName(given));
    const { expiresAt } = manifest.spec;
    if (saysAll && expiresAt !== undefined && parseInstant(expiresAt) <= services.clock.now()) {
      applied.push({ name: given, result: 'ended' });
      continue;
    }
    kept.add(foldName(given));
    const name = held?.spec.name ?? given;
    const draft = await withDocument(`${at(index)}/spec`, `WorkloadRule ${name}`, () =>
      asAsked(context, { ...manifest, name }, held, made),
    );
    const joinToken = withAddress(ruleToken(workspace, name, services.keys.controlKeyId), services.settings);
    if (!draft) {
      applied.push({ name, result: 'unchanged', joinToken });
      continue;
    }
    const action = held ? 'update' : 'create';
    ops.push(held ? { op: 'update', record: changed(held, draft), revision: held.revision } : create(draft));
    applied.push({ name, result: held ? 'updated' : 'created', joinToken });
    changes.push({ action, resource: 'WorkloadRule', name, before: held ? yaml(held) : '', after: yaml(draft) });
  }
  for (const token of isPruning ? tokens : []) {
    const { name } = token.spec;
    if (kept.has(foldName(name)) || exclusionReason(token, caller.id, services.clock.now()) !== undefined) continue;
    ops.push({ op: 'delete', key: { kind: 'Token', name: token.name }, revision: token.revision });
    applied.push({ name, result: 'deleted' });
    changes.push({ action: 'delete', resource: 'WorkloadRule', name, before: yaml(token), after: '' });
  }
  return { ops, applied, changes };
}

/** Returns the rule as its document says; undefined where it is so already, whoever made it. */
async function asAsked(
  context: JoinTokenCall,
  { name, metadata, spec: { expiresAt: ends, ...grants } }: RuleManifest & { readonly name: string },
  held: TokenRecord | undefined,
  made: ReadonlySet<string>,
): Promise<RecordDraft<'Token'> | undefined> {
  const granted = await grantedSpec(grants, context, made);
  const { labels, annotations } = metadata;
  const { usageLimit } = grants;
  const end = ends === undefined ? undefined : parseInstant(ends);
  const said = { kind: 'join', ...granted, ...(usageLimit && { usageLimit }), ...(end && { expiresAt: end }), name };
  if (held && sameValue(decided(held), { own: said, labels, annotations })) return undefined;
  // A rule of an agent ends with it. One of an API token would end at another instant each time, so that its document says when.
  const spec = await joinTokenSpec(grants, granted, context, ({ now, agentEnd }) =>
    end === undefined ? agentEnd : endIn(end, now, agentEnd),
  );
  const token = ruleToken(context.workspace, name, context.services.keys.controlKeyId);
  const draft = { ...ruleDraft(token, { ...spec, name }), labels, annotations };
  return held && sameValue(decided(held), decided(draft)) ? undefined : draft;
}

/** @throws MeshError `invalid_input` */
function endIn(end: number, now: number, latest = Number.POSITIVE_INFINITY): number {
  if (end > now && end <= latest) return end;
  const detail =
    end <= now
      ? `expiresAt (${formatInstant(end)}) has passed: name a time that is to come, or leave it out.`
      : `expiresAt is ${formatInstant(latest)} at the latest, when the agent that makes the rule ends.`;
  throw invalidInput([{ pointer: '/expiresAt', detail }], detail);
}

/** Returns the part of a rule that is compared: all but its uses and its author. */
function decided({ spec, labels, annotations }: RecordDraft<'Token'>) {
  const { usedCount: _, spentAt: _spent, spentIdentities: _known, createdBy: _by, owner: _owner, ...rest } = spec;
  const { issuedBy: _agent, madeWith: _token, ...own } = rest;
  return { own, labels, annotations };
}

/** The rule as it is from then on: of who changes it, with the uses that it has. */
function changed(held: TokenRecord, draft: RecordDraft<'Token'>): RecordDraft<'Token'> {
  const { usedCount, spentIdentities, madeWith } = held.spec;
  const spec: TokenSpec = {
    ...draft.spec,
    usedCount,
    ...(spentIdentities && { spentIdentities }),
    // Until who changes more of it than its texts is another.
    ...(madeWith !== undefined && { madeWith }),
  };
  return { ...draft, name: held.name, uid: held.uid, unique: held.unique, spec };
}

function create(record: RecordDraft<'Token'>): Op {
  return { op: 'create', record };
}
