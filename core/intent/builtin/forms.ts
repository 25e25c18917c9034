import type { Token } from './lexicon.ts';
import { match, type Pattern, patternOf, type Slots } from './match.ts';

/** What a sentence wants done. */
export type Wish =
  | 'allow'
  | 'only'
  | 'onlyTo'
  | 'keep'
  | 'deny'
  | 'isolate'
  | 'separate'
  | 'revoke'
  | 'limit'
  | 'limitAccess'
  | 'denyByDefault'
  | 'deletePolicy'
  | 'renamePolicy'
  | 'undo'
  | 'ask';

/** One way of asking. The first whose pattern fits the whole statement decides; none is tried twice. */
export interface Form {
  readonly wish: Wish;
  /** As the page of sentences names it. */
  readonly shape?: string;
  readonly patterns: readonly Pattern[];
  /** It names two sides as `a to b`, which some verbs give the other way round. */
  readonly arrow?: true;
  /** Ports at its end may belong to those who reach, or to all of it. */
  readonly passive?: true;
  /** Of a sentence in which something is missing. */
  readonly question?: string;
  /** Sentences that may be meant then. */
  readonly choices?: readonly string[];
}

/** The grammar, in the order in which it is tried. `{both}` are two sides, `{source}` reaches and `{target}` is reached. */
export const FORMS: readonly Form[] = [
  form('denyByDefault', 'deny everything by default', [
    'DENY|CLOSE {everything} BY_DEFAULT',
    'DENY|CLOSE ACCESS BY_DEFAULT',
  ]),
  form('deletePolicy', 'delete the policy <name>', [
    'DELETE|REVOKE|DENY POLICY {name}',
    'DELETE|REVOKE|DENY {name} POLICY',
  ]),
  form('renamePolicy', 'rename the policy <name> to <name>', [
    'RENAME POLICY {name} TO {next}',
    'RENAME {name} POLICY TO {next}',
  ]),
  form('undo', 'undo the last change', ['UNDO LAST_CHANGE', 'UNDO']),
  ...onlyForms(),
  ...denyForms(),
  ...allowForms(),
  ...isolateForms(),
  ...revokeForms(),
  ...limitForms(),
  ...keepForms(),
  ...unfinishedForms(),
];

function onlyForms(): Form[] {
  return [
    form('only', 'let only <source> reach <target>', [
      'LET ONLY {source} REACH {target}',
      'LET ONLY ACCESS FROM {source} TO {target}',
      'OPEN ACCESS ON|OF|TO {target} TO|FOR|FROM ONLY {source}',
      'OPEN ACCESS ON|OF|TO {target} ONLY TO|FOR|FROM {source}',
      'LET NOBODY EXCEPT {source} REACH {target}',
      'LET ONLY {source} ACCESS TO {target}',
      'LET NOBODY EXCEPT {source} ACCESS TO {target}',
      'OPEN ACCESS ON|OF|TO {target} TO|FOR NOBODY EXCEPT {source}',
      'OPEN {target} TO|FOR NOBODY EXCEPT {source}',
    ]),
    form('only', 'only <source> may reach <target>', [
      'ONLY {source} MAY REACH {target}',
      'ONLY {source} MAY ACCESS TO {target}',
      'NOBODY EXCEPT {source} MAY REACH {target}',
      'NOBODY EXCEPT {source} MAY ACCESS TO {target}',
    ]),
    form('onlyTo', '<source> may reach only <target>', [
      '{source} MAY ONLY REACH {target}',
      '{source} MAY REACH ONLY {target}',
      '{source} MAY ONLY ACCESS TO {target}',
      'LET {source} ONLY REACH {target}',
      'LET {source} REACH ONLY {target}',
    ]),
    {
      ...form('only', 'open <target> only to <source>', [
        'LET ACCESS TO {target} ONLY FROM|FOR|TO {source}',
        'LET ACCESS TO {target} FROM|FOR ONLY {source}',
        'OPEN {target} TO|FOR ONLY {source}',
        'OPEN {target} ONLY TO|FOR {source}',
      ]),
      passive: true,
    },
    {
      ...form('only', '<target> may be reached only by <source>', [
        '{target} MAY ONLY ACCEPT ACCESS? FROM|BY|TO|FOR {source}',
        '{target} MAY ACCEPT ACCESS? ONLY FROM|BY|TO|FOR {source}',
        '{target} MAY ACCEPT ONLY ACCESS FROM {source}',
        '{target} MAY ONLY ACCEPT ACCESS FROM {source}',
        '{target} MAY ACCEPT ACCESS? FROM|BY|FOR|TO NOBODY EXCEPT {source}',
      ]),
      passive: true,
    },
  ];
}

function denyForms(): Form[] {
  return [
    form('deny', 'nobody may reach <target>', [
      'LET NOBODY REACH {target}',
      'NOBODY MAY REACH {target}',
      'NOBODY MAY ACCESS TO {target}',
      '{target} MAY ACCEPT ACCESS? FROM|BY|FOR|TO NOBODY',
    ]),
    form('deny', '<source> must not reach <target>', [
      '{source} MAY_NOT REACH {target}',
      '{source} MAY_NOT ACCESS TO {target}',
    ]),
    form('deny', '<target> must not be reached by <source>', [
      '{target} MAY_NOT ACCEPT ACCESS? FROM|BY|FOR|TO {source}',
    ]),
    form('deny', 'deny access from <source> to <target>', [
      'DENY|CLOSE|CUT|ISOLATE|NO ACCESS FROM|FOR {source} TO|ON {target}',
      'DENY|CUT|ISOLATE|NO ACCESS TO|ON|OF {target} FROM|FOR|BY {source}',
    ]),
    form('deny', 'deny <source> access to <target>', [
      'DENY|CUT|ISOLATE {source} POSS? ACCESS TO|ON {target}',
      'DENY|CUT|ISOLATE {source} POSS {target} ACCESS',
      'DENY|CUT|CLOSE {target} ACCESS FOR|FROM {source}',
    ]),
    form('deny', 'block <source> -> <target>', [
      'DENY|CUT|CLOSE {source} ARROW {target}',
      'DENY|CUT|CLOSE ACCESS {source} ARROW {target}',
    ]),
    form('deny', 'keep <source> away from <target>', [
      'KEEP {source} REACHING|FROM {target}',
      'CLOSE {source} FROM {target}',
    ]),
    form('deny', 'block <source> from reaching <target>', ['DENY {source} REACHING|REACH|FROM {target}']),
    { ...form('deny', 'block <source> to <target>', ['DENY {source} TO {target}']), arrow: true },
    form('deny', '<source> should be blocked from <target>', [
      '{source} MAY BLOCKED REACHING|REACH|FROM {target}',
      '{source} MAY BLOCKED ACCESS TO|ON {target}',
      'ACCESS FROM {source} TO {target} MAY BLOCKED',
      'ACCESS TO {target} FROM {source} MAY BLOCKED',
      'ACCESS TO {target} MAY BLOCKED',
      'ACCESS BETWEEN {both} MAY BLOCKED',
      'ACCESS FROM {source} TO {target} MAY_NOT ALLOWED',
      'ACCESS TO {target} FROM {source} MAY_NOT ALLOWED',
    ]),
    form('deny', 'block access between <one> and <other>', [
      'DENY|CUT|CLOSE|ISOLATE|NO ACCESS BETWEEN {both}',
      'DENY {both} REACHING|REACH|FROM MUTUAL',
      '{both} MAY_NOT REACH MUTUAL',
      '{both} MAY_NOT TALK',
    ]),
    form('deny', 'block access to <target>', [
      'DENY|CUT|ISOLATE|NO ACCESS TO|ON {target}',
      '{target} MAY_NOT ACCEPT ACCESS?',
    ]),
    form('deny', 'block all access from <source>', ['DENY|CUT|ISOLATE ACCESS FROM {source}']),
    form('deny', 'close <ports> on <target> to <source>', ['CLOSE ACCESS ON|OF|TO {target} TO|FOR|FROM {source}']),
    form('deny', 'close <ports> on <target>', ['CLOSE ACCESS ON|OF|TO {target}']),
    form('deny', 'close <target> to <source>', ['CLOSE {target} TO|FOR {source}']),
  ];
}

function allowForms(): Form[] {
  return [
    form('allow', 'let <one> and <other> reach each other', [
      'LET|OPEN ACCESS BETWEEN {both}',
      'LET {both} REACH MUTUAL',
      'LET {both} TALK',
      '{both} MAY REACH MUTUAL',
      '{both} MAY TALK',
    ]),
    form('allow', 'allow access from <source> to <target>', [
      'LET|OPEN ACCESS FROM|FOR {source} TO|ON {target}',
      'LET ACCESS TO|ON|OF {target} FROM|FOR|BY {source}',
    ]),
    form('allow', 'access from <source> to <target> should be allowed', [
      'ACCESS FROM {source} TO {target} MAY ALLOWED',
      'ACCESS TO {target} FROM {source} MAY ALLOWED',
      'ACCESS BETWEEN {both} MAY ALLOWED',
    ]),
    form('allow', 'give <source> access to <target>', ['LET {source} ACCESS TO|ON {target}']),
    form('allow', 'allow <target> access for <source>', ['LET|OPEN {target} ACCESS FOR|FROM {source}']),
    form('allow', 'let <source> reach <target>', [
      'LET|OPEN {source} REACH {target}',
      'LET {source} REACHING {target}',
      'WHITELIST {source} FOR|ON|TO {target}',
    ]),
    form('allow', '<source> needs <target>', ['{source} NEEDS {target}']),
    form('allow', '<source> may reach <target>', ['{source} MAY REACH {target}', '{source} MAY ACCESS TO|ON {target}']),
    form('allow', '<target> may be reached by <source>', [
      '{target} MAY ACCEPT ACCESS? FROM|BY|FOR|TO {source}',
      'LET {target} ACCEPT ACCESS? FROM|BY {source}',
      'MAKE {target} REACHABLE FROM|BY|FOR|TO {source}',
    ]),
    form('allow', 'open <ports> on <target> to <source>', ['OPEN ACCESS ON|OF|TO {target} TO|FOR|FROM {source}']),
    form('allow', 'open <target> to <source>', ['OPEN {target} TO|FOR {source}']),
    form('allow', '<source> -> <target>', [
      'LET|OPEN {source} ARROW {target}',
      'LET|OPEN ACCESS {source} ARROW {target}',
      '{source} ARROW {target}',
    ]),
    { ...form('allow', 'allow <source> to <target>', ['LET {source} TO|ON {target}']), arrow: true },
  ];
}

function keepForms(): Form[] {
  return [
    form('keep', 'keep access from <source> to <target>', [
      'KEEP ACCESS OPEN? FROM|FOR {source} TO|ON {target}',
      'KEEP ACCESS OPEN? TO|ON|OF {target} OPEN? FROM|FOR|TO {source}',
      'KEEP {source} POSS? ACCESS TO|ON {target}',
      '{source} MAY KEEP PRONOUN? ACCESS TO|ON {target}',
    ]),
  ];
}

function isolateForms(): Form[] {
  return [
    form('separate', 'isolate <one> from <other>', [
      'ISOLATE {both} FROM MUTUAL',
      'CUT {both} OFF FROM MUTUAL',
      'ISOLATE {source} FROM {target}',
      'CUT {source} OFF? FROM {target}',
    ]),
    form('separate', '<one> should be isolated from <other>', [
      '{both} MAY ISOLATED FROM MUTUAL',
      '{source} MAY ISOLATED FROM {target}',
    ]),
    form('isolate', '<target> should be isolated', ['{target} MAY ISOLATED']),
    form('isolate', 'isolate <target>', [
      'PUT {target} QUARANTINED',
      'ISOLATE {target}',
      'CUT {target} OFF',
      'LOCK {target} OFF?',
    ]),
  ];
}

function revokeForms(): Form[] {
  return [
    form('revoke', "revoke <source>'s access to <target>", [
      'REVOKE {source} POSS? ACCESS TO|ON {target}',
      'REVOKE {source} POSS {target} ACCESS',
    ]),
    form('revoke', '<source> should lose access to <target>', ['{source} MAY LOSE PRONOUN? ACCESS TO|ON {target}']),
    form('revoke', 'revoke all access to <target>', ['REVOKE ACCESS TO|ON {target}']),
    form('revoke', 'revoke access from <source> to <target>', [
      'REVOKE ACCESS FROM|OF|FOR {source} TO|ON {target}',
      'REVOKE ACCESS TO|ON {target} FROM|OF|FOR {source}',
      'REVOKE ACCESS {source} MAY TO|ON {target}',
    ]),
  ];
}

function limitForms(): Form[] {
  return [
    form('limit', "limit <source>'s access to <target> to <ports>", [
      'LIMIT {source} POSS? ACCESS TO|ON {target}',
      'LIMIT {source} POSS {target} ACCESS',
      'LIMIT ACCESS FROM|OF|FOR {source} TO|ON {target}',
      'LIMIT ACCESS BETWEEN {both}',
    ]),
    form('limitAccess', 'limit access to <target> to <source>', [
      'LIMIT ACCESS ON|OF {target} TO {source}',
      'LIMIT ACCESS TO|ON {target} TO {source}',
    ]),
    form('limit', 'leave only <ports> open on <target>', [
      'ONLY KEEP ACCESS OPEN ON|OF|TO {target}',
      'KEEP ONLY ACCESS OPEN ON|OF|TO {target}',
      'ONLY KEEP OPEN ACCESS ON|OF|TO {target}',
      'ONLY ACCESS MAY ACCEPT ON|OF|TO {target}',
    ]),
    form('limit', 'limit <target> to <ports>', ['LIMIT ACCESS TO|ON {target}', 'LIMIT {target}']),
  ];
}

/** Sentences that name too little, and what is asked then. */
function unfinishedForms(): Form[] {
  return [
    asks('What should they be able to reach?', [
      'LET {source}',
      'LET {source} REACH',
      'LET {source} ACCESS',
      'LET ACCESS FROM|FOR {source}',
      '{source} MAY REACH',
      '{source} MAY ACCESS',
      'LET {source} TO',
    ]),
    asks(
      'Who should be able to reach it? Add "to everyone", or name some: "to the web servers", "to role=web", "to peer web-1".',
      [
        'LET ACCESS TO|ON {target}',
        'LET ACCESS',
        'OPEN {target}',
        'OPEN ACCESS',
        'OPEN ACCESS ON|OF|TO|FOR|FROM {target}',
      ],
      ['let everyone reach {target}{on}'],
    ),
    asks(
      'From what should they be kept? Name it ("block ci from reaching db"), or say "isolate" to cut them off from everyone.',
      [
        'DENY {source}',
        'DENY {source} REACHING|REACH|FROM|TO|ACCESS',
        'DENY ACCESS FOR {source}',
        'DENY ACCESS',
        'CLOSE {target}',
        'CLOSE ACCESS',
        'CUT {target}',
        '{source} MAY_NOT REACH',
      ],
      [
        'block {source} from everyone{on}',
        'block all traffic to {source}{on}',
        'isolate {source}',
        'block all traffic to {target}{on}',
        'isolate {target}',
      ],
    ),
    asks('Which peers should be isolated?', ['ISOLATE', 'ISOLATE ACCESS']),
    asks(
      'Whose access to what should be taken back? Say "revoke web\'s access to db", or "delete the policy <name>".',
      [
        'REVOKE',
        'REVOKE {source}',
        'REVOKE ACCESS',
        'REVOKE {source} FROM|TO {target}',
        'REVOKE ACCESS TO|ON {target}',
        'REVOKE {source} POSS? ACCESS',
        'REVOKE ACCESS FROM|OF|FOR {source}',
        'DELETE {target}',
      ],
      [
        "revoke {source}'s access to {target}",
        'revoke all access to {target}',
        'delete the policy {target}',
        'delete the policy {source}',
      ],
    ),
    asks(
      'Limit it to what? Say "limit db to port 5432" for ports, or "limit access to db to web" for peers.',
      ['LIMIT {target} TO {source}', 'LIMIT', 'LIMIT ACCESS', 'LIMIT {source} POSS? ACCESS'],
      ['limit access to {target} to {source}{on}'],
    ),
    asks(
      'What should be open or closed in the end? A policy cannot be switched off: delete it, or say what it should allow.',
      [
        'DISABLE {name}',
        'DISABLE POLICY {name}',
        'DISABLE {name} POLICY',
        'DISABLE ACCESS',
        'DISABLE ACCESS TO|FROM|FOR {name}',
      ],
      ['delete the policy {name}', 'block all traffic to {name}', 'isolate {name}'],
    ),
  ];
}

function form(wish: Wish, shape: string, patterns: readonly string[]): Form {
  return { wish, shape, patterns: patterns.map(patternOf) };
}

function asks(question: string, patterns: readonly string[], choices: readonly string[] = []): Form {
  return { wish: 'ask', question, choices, patterns: patterns.map(patternOf) };
}

/** The sentences that are understood. */
export const SHAPES: readonly string[] = FORMS.flatMap(({ shape }) => shape ?? []);

/** The form that fits a whole statement, and what its slots caught. */
export function formOf(tokens: readonly Token[]): { form: Form; slots: Slots } | undefined {
  for (const candidate of FORMS) {
    for (const pattern of candidate.patterns) {
      const slots = match(pattern, tokens);
      if (slots) return { form: candidate, slots };
    }
  }
  return undefined;
}
