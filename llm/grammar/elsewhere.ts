import type { Sym, Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

const QUESTION =
  /^(?:(?:please |and |so |but |hey |hi )*)(?:who|whom|whose|what|which|why|when|where|how|is|are|was|were|does|did|can|could|may|might|should|would|will|has|had|show|list|display|tell|explain|describe|check|test|verify|find out|see|view|compare|diff|simulate|count|debug|diagnose|do (?:i|we|you|any|all)|help)\b/;
const PAST =
  /\b(?:yesterday|ago|last (?:night|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|could|was|were|did|had|at \d{1,2}:\d{2}|before)\b/;

interface Kind {
  readonly about: RegExp;
  readonly tool: string;
}

/** What a question is about, the first that fits, and what answers it. */
const QUESTIONS: readonly Kind[] = [
  {
    about:
      /\bwho (?:\w+ )?(?:changed|deleted|removed|created|added|made|did|approved|revoked|opened|closed)\b|\b(?:audit|log)\b/,
    tool: 'list_audit',
  },
  {
    about: /\b(?:changed|changes?|happened|differ\w*|compare|diff|history|lose|lost|since)\b/,
    tool: 'diff_snapshots (two moments) or list_audit (who and when)',
  },
  {
    about: /^(?:.* )?(?:what if|what would|what happens|would|simulate)\b/,
    tool: 'plan_network_change with dry_run: send the order itself, and what opens and closes is shown and nothing is done',
  },
  { about: /\b(?:path|paths|relay|relayed|direct|directly|slow|latency|route)\b/, tool: 'get_peer_paths' },
  { about: /\b(?:pending|waiting|approval|approvals|workflow|workflows)\b/, tool: 'list_workflows' },
  { about: /\b(?:policy|policies|rule|rules)\b/, tool: 'list_policies' },
  { about: /\b(?:why|explain|reason)\b/, tool: 'explain_denial' },
  {
    about:
      /\b(?:online|offline|seen|address|ip|labels?|label|peers?|devices|nodes|hosts|machines|how many|where is|who is|who are)\b(?!.* (?:reach|access|talk|connect|ping|ssh)\b)/,
    tool: 'list_peers',
  },
  { about: /^(?:help|what can you|what is|what are|how (?:do|can|could|should|would) (?:i|we))\b/, tool: '' },
];

const UNDOING =
  /^(?!.*\b(?:and|then) (?:block|let|allow|deny|isolate|open|close)\b)(?:undo|revert|roll ?back|restore|go back|put .*back|reset|redo|take .*back|give .*back|as it was)\b/;

/** Orders that no policy carries out: the first that fits, and what does. */
const ORDERS: readonly (Kind & { readonly what: string; readonly choices?: readonly string[] })[] = [
  {
    about: /^(?:undo|revert|roll ?back|restore|take|give)\b.*\b(?:labels?|tags?|rename|renaming)\b/,
    what: 'A change of labels is taken back as any other: the newest change by "undo the last change", an older one',
    tool: 'revert_network_change, or update_peer with the labels that it should have',
  },
  {
    about:
      /^(?:label|relabel|tag|untag|retag)\b|^(?:set|add|put|remove|change|delete|drop|assign|give)\b.*\b(?:labels?|tags?)\b|^change the \w+ of\b/,
    what: 'Labels of peers are changed',
    tool: 'update_peer',
  },
  {
    about: UNDOING,
    what: 'Back to a revision, a snapshot, or to before a workflow goes',
    tool: 'revert_network_change',
  },
  {
    about: /^(?:never mind|cancel|abort|stop)(?: (?:that|it|this))?$/,
    what: 'Nothing was done, so nothing is stopped: a plan does nothing until it is applied, and one that waits is refused',
    tool: 'reject_workflow',
  },
  {
    about: /^(?:the )?(?:policy )?\S+ (?:should|must|shall|has to) (?:end|expire|stop|run out)\b/,
    what: 'When a policy ends is a part of the policy',
    tool: 'plan_network_change with the policy and its new expiresAt as a typed change',
  },
  { about: /^(?:rename|move)\b/, what: 'Peers are renamed and moved', tool: 'update_peer' },
  { about: /^approve\b/, what: 'What waits is approved', tool: 'approve_peer (a peer) or approve_workflow (a plan)' },
  {
    about: /^(?:create|add|make|generate|invite|delete|remove|new)\b.*\b(?:tokens?|invites?|invitations?)\b|^invite\b/,
    what: 'Devices join',
    tool: 'generate_join_token',
  },
  {
    about: /^(?:delete|remove|kick|throw)\b .*\b(?:from|off|out of) the (?:network|mesh)$/,
    what: 'Peers leave',
    tool: 'delete_peer',
  },
  {
    about: /^(?:create|add|delete|remove)\b.*\b(?:network|networks)\b(?!.* to )/,
    what: 'Networks are made and ended',
    tool: 'create_network or delete_network',
  },
  {
    about: /^(?:create|add|make|delete|remove)\b.*\b(?:users?|admins?|members?)\b/,
    what: 'Users and their roles are changed',
    tool: 'create_user or set_member',
  },
  {
    about: /^(?:delete|remove|kick|add)\b (?:the )?(?:peer|device|node|host|machine)\b|^kick\b/,
    what: 'Peers join and leave',
    tool: 'generate_join_token or delete_peer',
  },
];

/**
 * What is asked for is an answer, or something else than who reaches whom: which tool gives it.
 *
 * @returns undefined where it may well be an order of who reaches whom
 */
export function elsewhere(tokens: readonly Token[], { isName }: Vocabulary): Refusal | undefined {
  const [first] = tokens;
  if (!first || first.quoted || isName(first.text)) return undefined;
  const whole = said(tokens).toLowerCase();
  const sentences = whole
    .split(/[.?!;](?: |$)/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const isQuestion = sentences.length > 0 && sentences.every((one) => QUESTION.test(one));
  if (isQuestion || (sentences.length === 1 && whole.endsWith('?') && first.sym !== 'POLITE')) return questionOf(whole);
  if (tokens.some(({ sym }) => sym && REACHES.has(sym))) return undefined;
  const order = sentences.length === 1 ? ORDERS.find(({ about }) => about.test(sentences[0] ?? '')) : undefined;
  if (!order) return undefined;
  return new Refusal(
    `${quoted(whole)} asks for no change of who may reach whom. ${order.what}: use ${order.tool}.`,
    ['Should it change who reaches whom? Then say "let … reach …" or "deny … access to …".'],
    { choices: order.choices ?? [], final: true },
  );
}

/** Words of orders of who reaches whom, and of policies. */
const REACHES: ReadonlySet<Sym> = new Set(['ACCESS', 'REACH', 'REACHING', 'TALK', 'POLICY', 'ARROW']);

/** A question, and the tool that answers it. */
export function questionOf(text: string): Refusal {
  const kind = QUESTIONS.find(({ about }) => about.test(text));
  const reach = PAST.test(text) ? 'check_connectivity_at' : 'check_connectivity';
  const tool = kind?.tool ?? `${reach}, which says who may reach whom`;
  const answer =
    tool === ''
      ? 'and only changes of who may reach whom are planned here.'
      : `and only changes are planned here: ask ${tool}.`;
  return new Refusal(
    `This is a question, ${answer}`,
    ['Should something change? Then say "let … reach …" or "deny … access to …".'],
    { choices: orderIn(text), final: true },
  );
}

/** "How do I let web reach db?", "what happens if I isolate db-1?": the order itself. */
function orderIn(text: string): string[] {
  const [, order] =
    /^(?:how (?:do|can|could|should|would) (?:i|we)|what (?:happens|would happen|would break|breaks) (?:if|when) (?:i|we)) (.+?)\??$/.exec(
      text,
    ) ?? [];
  return order === undefined ? [] : [order];
}
