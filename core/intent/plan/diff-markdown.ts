import { type Effect, outsidePairs } from '../../effect/effect.ts';
import { code, counted, fenced, plain, quote } from '../../effect/markdown.ts';
import { routeText } from '../../effect/routes.ts';
import { type EffectText, effectTexts } from '../../effect/rows.ts';
import type { RequesterKind, WorkspaceSettings } from '../../model/workspaces.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Risk } from '../verify/risk.ts';
import type { Check, ReadBy } from './check.ts';
import { checkStatements } from './check-statements.ts';
import { lineDiff } from './line-diff.ts';
import { type Claim, type Computed, claimsOf } from './model-words.ts';
import type { WordingView } from './planner.ts';

/** A change as people read it. */
export interface ShownChange {
  readonly action: 'create' | 'update' | 'delete';
  readonly resource: string;
  readonly name: string;
  /** YAML; empty for a creation. */
  readonly before: string;
  /** YAML; empty for a deletion. */
  readonly after: string;
}

/** The data from which the Markdown of a plan is rendered; all of it computed. */
export interface PlanView {
  /** The orders in one line; the effect where there are none. */
  readonly title: string;
  /** The effect in one line, below a title of orders. */
  readonly effectLine?: string;
  readonly readBy: ReadBy;
  /** The sentence of the requester, quoted as theirs. */
  readonly intent?: string;
  readonly askedBy?: RequesterKind;
  /** Statement of the reader, quoted as theirs. */
  readonly sentence: string;
  readonly shown: readonly ShownChange[];
  readonly effect: Effect;
  /** When it opens and closes, in words, where that is later: nothing changes before. */
  readonly from?: string;
  /** The network after the change: its labels name the kinds of peers. */
  readonly after: NetworkState;
  /** Terms of labels that the orders, expectations and policies use. */
  readonly named: readonly string[];
  readonly risk: Risk;
  /** Sentences on connections that open or close beyond the named ones. */
  readonly beyondNamed: readonly string[];
  /** True if the workspace carries it out without a person. */
  readonly isAuto: boolean;
  /** True if controls of frameworks fail after it that did not fail before. */
  readonly failsControls: boolean;
  readonly warnings: readonly string[];
  readonly check: Check;
  /** Expectations stated by the intent, as sentences. */
  readonly stated: readonly string[];
  /** The intent as the built-in reader reads it, where others wrote the orders or changes, as sentences. */
  readonly intended?: readonly string[];
  /** The orders from which code wrote the changes, as sentences. */
  readonly orders?: readonly string[];
  /** True if the effect is that of the orders. */
  readonly ordersMet?: boolean;
  /** Requirements of the caller that hold among other things, as sentences. */
  readonly hold: readonly string[];
  /** The caller's own expectations, as sentences, and whether all of them hold, the orders too. */
  readonly callerExpectations: readonly string[];
  readonly expectationsHold?: boolean;
  readonly objections: readonly string[];
  readonly settings: WorkspaceSettings;
}

/** Two sides of a title, with what its markup adds. */
const MAX_TITLE = 600;
const MAX_ROWS = 20;
const MAX_LINES = 30;
const MAX_CHANGES = 30;
const MAX_DIFF_LINES = 120;

/** The plan as Markdown, for display and for messages that ask for approval. The same plan gives the same text. */
export function diffMarkdown(view: PlanView): string {
  const { title, effectLine, risk, effect, warnings, beyondNamed } = view;
  const reasons = risk.reasons.length > 0 ? ` (${risk.reasons.map((reason) => plain(reason)).join('; ')})` : '';
  const lines = [
    `# ${plain(title, MAX_TITLE)}`,
    '',
    ...(effectLine === undefined ? [] : [plain(effectLine, MAX_TITLE), '']),
    ...list('Opens or closes more than was named: is it meant?', beyondNamed),
    readByText(view),
    '',
    ...intentText(view),
    `Risk${laterText(view)}: **${risk.level}**${reasons}`,
    '',
    ...checkTexts(view),
    ...list('Speaks against it', view.objections),
    ...list('The intent says', view.stated),
    ...list('The sentence as it was read', view.intended ?? []),
    ...list(
      view.ordersMet ? 'The effect matches these orders' : 'The effect does not match these orders',
      view.orders ?? [],
    ),
    ...list(callerTitle(view), [...view.hold, ...view.callerExpectations]),
    ...list('Routes', effect.routes.map(routeText)),
    ...side('Opens', view, 'opened'),
    ...side('Closes', view, 'closed'),
    `Unchanged: ${counted(effect.unchangedPairs, 'pair')} of peers.`,
    '',
    ...changesText(view.shown),
    ...list('Warnings', warnings),
    '## Approval',
    '',
    approvalText(view),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the unanswered questions of a plan, for its approver. */
export function openQuestions(questions: readonly string[]): string {
  return list('Asked with the plan', questions).join('\n');
}

/**
 * Words of a planner, marked as such sentence by sentence, with what the effect contradicts; nothing in them can look like
 * a part of the computed text.
 */
export function plannerWords(reasoning: string | undefined, wording: string | undefined, computed: Computed): string {
  const section = (title: string, text = '') => {
    const claims = claimsOf(text.slice(0, MAX_WORDS), computed);
    return claims.length === 0 ? [] : ['', `## ${title}`, '', ...claims.flatMap(claimText)];
  };
  const lines = [
    ...section('The model says why (its own words, not checked)', reasoning),
    ...section('The model says of the plan (its own words, not checked)', wording),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function claimText({ text, contradiction }: Claim): string[] {
  const words = quote(text, MAX_WORDS);
  if (contradiction === undefined) return words;
  return [...words, '', `**The computed effect contradicts this**: ${plain(contradiction)}.`, ''];
}

const MAX_WORDS = 2_000;

/** The same as sentences, for a planner that words them. */
export function wordingViewOf(intent: string, view: PlanView): WordingView {
  const sentences = (of: 'opened' | 'closed') =>
    rowsOf(view, of).rows.map(({ from, to, ports }) => `${from} -> ${to}: ${ports}`);
  const { level, reasons } = view.risk;
  return {
    intent,
    summary: view.title,
    risk: [level, ...reasons].join('; '),
    opens: sentences('opened'),
    closes: sentences('closed'),
    warnings: [...view.beyondNamed, ...view.warnings].slice(0, MAX_LINES),
    unmet: view.objections.slice(0, MAX_LINES),
  };
}

const READ_BY = {
  language: 'Read by the built-in reader, as',
  model: 'Read by a model, which says (its own words, not checked)',
  agent: 'Sent by an agent or program, as finished changes',
  person: 'Sent by a person, as finished changes',
} as const satisfies Record<ReadBy, string>;

const ORDERED_BY = {
  language: 'Orders that the built-in reader read from the sentence',
  model: 'Orders that a model read from the sentence',
  agent: 'Orders sent by an agent or program',
  person: 'Orders sent by a person',
} as const satisfies Record<ReadBy, string>;

/** The first line of a plan that changes nothing since all of it is so already. */
export function alreadyText(policies: readonly string[]): string {
  const names = policies.length > 0 ? policies.map(code).join(', ') : 'by default';
  return `**Already so**: ${names}. There is nothing to apply.\n\n`;
}

function readByText({ readBy, sentence, orders, shown, hold }: PlanView): string {
  if (!orders && shown.length === 0 && hold.length > 0) return 'Nothing is written: it is asked what is so.';
  if (orders) return `${ORDERED_BY[readBy]}; code wrote the changes.`;
  return `${READ_BY[readBy]}: ${plain(sentence)}`;
}

function intentText({ intent, orders }: PlanView): string[] {
  return intent === undefined || !orders ? [] : ['The requester wrote:', '', ...quote(intent, MAX_WORDS), ''];
}

function checkTexts({ check, readBy, orders, intent, objections, expectationsHold }: PlanView): string[] {
  // The demands that come with finished changes have a section of their own.
  const checked = { check, expectations_hold: (orders && expectationsHold) ?? null, orders, read_by: readBy };
  const isQuoted = orders !== undefined && intent !== undefined;
  const statements = checkStatements(checked, isQuoted, objections.length > 0);
  return statements.flatMap((one) => [`Check: **${one.check}**: ${one.text}`, '']);
}

function callerTitle({ expectationsHold }: PlanView): string {
  return expectationsHold ? "The caller's expectations hold" : "The caller's expectations do not hold";
}

function list(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - MAX_LINES;
  return [
    `## ${title}`,
    '',
    ...items.slice(0, MAX_LINES).map((item) => `- ${plain(item)}`),
    ...(more > 0 ? [`- … and ${more} more`] : []),
    '',
  ];
}

function rowsOf({ effect, after, named }: PlanView, of: 'opened' | 'closed') {
  return effectTexts(effect, of, after, { limit: MAX_ROWS, named });
}

function side(title: string, view: PlanView, of: 'opened' | 'closed'): string[] {
  const { effect } = view;
  const heading = `${title}${laterText(view)}`;
  const pairs = of === 'opened' ? effect.openedPairs : effect.closedPairs;
  const { rows, omittedRows, omittedPairs } = rowsOf(view, of);
  if (rows.length === 0) return [`## ${heading}`, '', effect.outside ? 'Nothing.' : 'Nothing between peers.', ''];
  const outside = outsidePairs(effect, of);
  const more = outside === 0 ? '' : `${pairs > 0 ? ', and ' : ''}${outside} with addresses outside of the network`;
  return [
    `## ${heading} (${pairs > 0 ? counted(pairs, 'pair') : ''}${more})`,
    '',
    '| from | to | ports | pairs | for example |',
    '|---|---|---|---|---|',
    ...rows.map(row),
    ...(omittedRows > 0 ? [`| … | … | ${counted(omittedRows, 'more row')} | ${omittedPairs} | |`] : []),
    '',
  ];
}

function laterText({ from }: PlanView): string {
  return from === undefined ? '' : ` from ${from} on`;
}

function row({ from, to, ports, pairs, example: [src, dst] }: EffectText): string {
  const example = pairs === 1 ? '' : `${plain(src)} → ${plain(dst)}`;
  return `| ${plain(from)} | ${plain(to)} | ${ports} | ${pairs} | ${example} |`;
}

export function changesText(shown: readonly ShownChange[], title = 'Changes'): string[] {
  if (shown.length === 0) return [`## ${title}`, '', 'None.', ''];
  const more = shown.length - MAX_CHANGES;
  return [
    `## ${title}`,
    '',
    ...shown.slice(0, MAX_CHANGES).flatMap(({ action, resource, name, before, after }) => {
      const lines = lineDiff(before, after);
      const rest = lines.length - MAX_DIFF_LINES;
      return [
        `### ${action} ${resource} ${code(name)}`,
        '',
        ...fenced('diff', lines.slice(0, MAX_DIFF_LINES)),
        ...(rest > 0 ? [`${counted(rest, 'more line')}; \`changes\` has them all.`] : []),
        '',
      ];
    }),
    ...(more > 0 ? [`${counted(more, 'more change')}; \`changes\` has them all.`, ''] : []),
  ];
}

function approvalText({ settings, effect, objections, isAuto, failsControls, shown }: PlanView): string {
  if (shown.length === 0) return 'None: nothing is written.';
  const isPublic = effect.routes.some((route) => route.isPublic);
  const { autoApprove, compliance } = settings;
  const selfApproval = failsControls && compliance?.secondPerson ? false : settings.selfApproval;
  if (autoApprove && isAuto) {
    return `None is needed: this workspace carries out such plans by itself, up to risk ${autoApprove.maxRisk}.`;
  }
  const own =
    selfApproval === undefined
      ? 'the one who asked only while nobody else may'
      : selfApproval
        ? 'the one who asked too'
        : 'never the one who asked';
  const override = objections.length > 0 ? ' Only someone with intents:override can put it forward as it is.' : '';
  const who = isPublic
    ? 'A platform administrator, because nodes would route a public block'
    : 'A signed-in person with workflows:approve';
  return `${who}; ${own}. Never an agent.${override}`;
}
