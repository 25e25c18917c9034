import { match, type Pattern, patternOf, type Slots } from './match.ts';
import type { Token } from './token.ts';

/** The kinds of things that clauses ask for. */
export type Act =
  /** Opens `from` to `to`. */
  | 'allow'
  /** Opens, and shuts all others out of `to`. */
  | 'only'
  /** Opens, and closes all else that `from` reaches. */
  | 'only to'
  | 'deny'
  | 'isolate'
  | 'separate'
  /** Takes away what policies give; closes what is open by default. */
  | 'revoke'
  /** Closes all ports but some. */
  | 'limit'
  /** Closes `to` to all but `from`, on all ports but those named. */
  | 'limit access'
  /** Holds already, and stays when the rest of the sentence closes. */
  | 'keep'
  /** Connections that stay open of those who are isolated. */
  | 'spare from'
  | 'spare to'
  /** The clause before said who reaches whom; all others are closed. */
  | 'others out'
  | 'nothing else in'
  | 'nothing else out'
  | 'nothing changes'
  | 'inbound stays'
  | 'outbound stays'
  | 'nothing in'
  /** "…, close it" after what is no longer needed. */
  | 'said so'
  | 'nothing out'
  | 'swap'
  | 'default deny'
  | 'delete policy'
  | 'undo';

/** A way of asking. The first whose pattern fits a whole clause decides. */
interface Form {
  readonly act: Act;
  readonly pattern: Pattern;
}

/** Slots: `from` reaches `to`; `both` reach each other; `who` is isolated; `old` reached before. */
const FORMS_BY_ACT: readonly (readonly [act: Act, patterns: readonly string[]])[] = [
  ['default deny', ['DENY ACCESS BY_DEFAULT', 'DENY {all} BY_DEFAULT']],
  ['delete policy', ['DELETE|REVOKE|DENY POLICY {name}', 'DELETE|REVOKE|DENY {name} POLICY']],
  ['undo', ['UNDO LAST|PRONOUN']],
  [
    'nothing else in',
    [
      'NO_OTHER_IN',
      'DENY|CLOSE|CUT|KEEP OTHER_IN',
      'DENY|CLOSE|CUT OTHER_IN TO|ON|OF {to}',
      'DENY|CLOSE|CUT OTHER TO|ON {to}',
    ],
  ],
  [
    'nothing else out',
    [
      'NO_OTHER_OUT',
      'DENY|CLOSE|CUT OTHER_OUT',
      'DENY|CLOSE|CUT OTHER_OUT FROM|OF {from}',
      'DENY|CLOSE|CUT OTHER FROM|OF {from}',
    ],
  ],
  ['nothing changes', ['OTHER_PORTS_STAY', 'ELSE_CLOSED']],
  ['inbound stays', ['INBOUND_STAYS']],
  ['outbound stays', ['OUTBOUND_STAYS']],
  ['nothing in', ['NOTHING_IN']],
  ['nothing out', ['NOTHING_OUT']],
  ['said so', ['CLOSE|REVOKE|DENY PRONOUN']],
  ['others out', ['NOBODY_ELSE MAY REACH PRONOUN']],
  ['swap', ['{to} MAY ACCEPT FROM|BY {from} INSTEAD {old}', '{to} MAY ACCEPT INSTEAD {old} FROM|BY {from}']],
  [
    'limit',
    [
      'ONLY KEEP ACCESS OPEN ON|OF|TO {to}',
      'KEEP ONLY ACCESS OPEN ON|OF|TO {to}',
      'ONLY KEEP OPEN ACCESS ON|OF|TO {to}',
      'ONLY ACCESS MAY ACCEPT ON|OF|TO {to}',
      'ONLY ACCESS MAY REACH {to}',
      'NOBODY EXCEPT ACCESS MAY REACH {to}',
      '{to} MAY ONLY ACCEPT ACCESS?',
      '{to} MAY ACCEPT ONLY ACCESS?',
      'LIMIT {from} POSS? ACCESS TO|ON {to}',
      'LIMIT {from} POSS {to} ACCESS',
      'LIMIT ACCESS FROM|OF|FOR {from} TO|ON {to}',
    ],
  ],
  ['limit access', ['LIMIT ACCESS TO|ON|OF {to} TO {from} ONLY|ALONE?']],
  ['limit', ['LIMIT ACCESS TO|ON {to}', 'LIMIT|LOCK {to}']],
  [
    'only',
    [
      'LET|GIVE ONLY {from} REACH {to}',
      'LET ONLY {from} TO {to}',
      'LET ONLY ACCESS FROM {from} TO {to}',
      'LET|GIVE ONLY {from} ACCESS TO {to}',
      'LET|GIVE NOBODY EXCEPT {from} REACH {to}',
      'LET NOBODY REACH {to} EXCEPT {from}',
      'LET|GIVE NOBODY EXCEPT {from} ACCESS TO {to}',
      'LET {from} ALONE REACH {to}',
      'OPEN ACCESS ON|OF|TO {to} TO|FOR|FROM ONLY {from}',
      'OPEN ACCESS ON|OF|TO {to} ONLY TO|FOR|FROM {from}',
      'OPEN {to} TO|FOR ONLY {from}',
      'OPEN {to} ONLY TO|FOR {from}',
      'LET ACCESS TO {to} ONLY FROM|FOR|TO {from}',
      'LET ACCESS TO {to} FROM|FOR ONLY {from}',
      'ONLY {from} MAY REACH {to}',
      'ONLY {from} MAY TO {to}',
      '{from} ONLY|ALONE MAY REACH {to}',
      'ONLY {from} MAY ACCESS TO|ON {to}',
      'NOBODY EXCEPT {from} MAY REACH {to}',
      'NOBODY EXCEPT {from} MAY ACCESS TO|ON {to}',
      'NOBODY MAY REACH {to} EXCEPT {from}',
      'NOBODY EXCEPT {from} MAY REACH ACCESS ON {to}',
      'ONLY {from} MAY REACH ACCESS ON {to}',
      'ACCESS TO|ON {to} ONLY FROM|FOR {from}',
      '{to} MAY ONLY ACCEPT ACCESS? FROM|BY|TO|FOR {from}',
      '{to} MAY ACCEPT ACCESS? ONLY FROM|BY|TO|FOR {from}',
      '{to} MAY ACCEPT ACCESS? FROM|BY|TO|FOR {from} ONLY|ALONE',
      '{to} MAY ACCEPT ONLY ACCESS? FROM|BY {from}',
      '{to} MAY ACCEPT ACCESS? FROM|BY NOBODY EXCEPT {from}',
    ],
  ],
  [
    'only to',
    [
      '{from} MAY ONLY REACH {to}',
      '{from} MAY REACH ONLY {to}',
      '{from} MAY ONLY ACCESS TO {to}',
      '{from} MAY REACH NOBODY EXCEPT {to}',
      '{from} MAY ONLY MAY REACH {to}',
      'LET {from} ONLY REACH {to}',
      'LET|GIVE {from} REACH ONLY {to}',
      'LET|GIVE {from} REACH NOBODY EXCEPT {to}',
    ],
  ],
  [
    'deny',
    [
      'LET NOBODY REACH {to}',
      'NOBODY MAY REACH {to}',
      'NOBODY MAY REACH {to} FROM {from}',
      'NOBODY MAY REACH ACCESS ON {to}',
      'NO {from} MAY REACH {to}',
      '{from} MAY_NOT REACH {to}',
      '{from} MAY_NOT REACHING {to}',
      '{from} MAY_NOT ACCESS TO {to}',
      '{from} MAY_NOT REACH ACCESS ON {to}',
      '{to} MAY_NOT ACCEPT ACCESS? FROM|BY|FOR|TO {from}',
      '{to} MAY ACCEPT ACCESS? FROM|BY|FOR|TO NOBODY',
      '{to} MAY UNREACHABLE FROM|BY|FOR|TO {from}',
      'MAKE|KEEP {to} UNREACHABLE FROM|BY|FOR|TO {from}',
      '{to} MAY_NOT ACCEPT ACCESS?',
      'DENY|CLOSE|CUT|NO ACCESS FROM|FOR {from} TO|ON {to}',
      'DENY|CLOSE|CUT|NO ACCESS TO|ON|OF {to} FROM|FOR|BY|TO {from}',
      'DENY|CLOSE|CUT {from} POSS? ACCESS TO|ON {to}',
      'DENY|CLOSE|CUT {from} POSS {to} ACCESS',
      'DENY|CLOSE|CUT {to} ACCESS FOR|FROM {from}',
      'DENY|CLOSE|CUT {from} ARROW {to}',
      'DENY|CLOSE|CUT ACCESS {from} ARROW {to}',
      'KEEP {from} FROM {to}',
      'DENY {from} REACHING|REACH|FROM {to}',
      '{from} MAY BLOCKED REACHING|REACH|FROM {to}',
      '{from} MAY BLOCKED ACCESS TO|ON {to}',
      'ACCESS FROM {from} TO {to} MAY BLOCKED',
      'ACCESS TO {to} FROM {from} MAY BLOCKED',
      'DENY|CLOSE|CUT|NO ACCESS BETWEEN {both}',
      'DENY {both} REACHING|REACH|FROM MUTUAL',
      'DENY {both} TALKING TO? MUTUAL',
      '{both} MAY_NOT REACH MUTUAL',
      '{both} MAY_NOT TALK',
      'DENY|CLOSE|CUT|NO ACCESS TO|ON {to}',
      'DENY|CLOSE|CUT|NO INCOMING TO|ON|OF|FOR {to}',
      '{to} MAY_NOT ACCEPT INCOMING',
      'DENY|CLOSE|CUT ACCESS FROM {from}',
      'DENY|CLOSE|CUT|NO OUTGOING FROM|OF|ON|FOR {from}',
      'DENY|CLOSE|CUT {from} POSS OUTGOING',
      'DENY|CLOSE|CUT {to} POSS INCOMING',
      'CLOSE {to} TO|FOR {from}',
    ],
  ],
  [
    'separate',
    [
      'ISOLATE|SEPARATE {both} FROM MUTUAL',
      'KEEP {both} APART',
      'CUT {both} OFF FROM MUTUAL',
      '{both} MAY ISOLATED FROM MUTUAL',
      'SEPARATE {both}',
      'ISOLATE|SEPARATE {from} FROM {to}',
      'CUT {from} OFF? FROM {to}',
      '{from} MAY ISOLATED FROM {to}',
    ],
  ],
  ['isolate', ['PUT {who} QUARANTINED', 'ISOLATE {who}', 'CUT {who} OFF', 'LOCK {who} OFF?', '{who} MAY ISOLATED']],
  [
    'revoke',
    [
      'REVOKE {from} POSS? ACCESS TO|ON {to}',
      'REVOKE {from} POSS {to} ACCESS',
      'REVOKE ACCESS FROM|OF|FOR {from} TO|ON {to}',
      'REVOKE ACCESS TO|ON {to} FROM|OF|FOR {from}',
      'REVOKE ACCESS {from} MAY TO|ON? {to}',
      'REVOKE {from} POSS? ACCESS TO ACCESS ON {to}',
      'REVOKE ACCESS TO|ON {to}',
      '{from} MAY? LOSE PRONOUN? ACCESS TO|ON {to}',
      '{from} NEED_NOT ACCESS TO|ON {to}',
      '{from} NEED_NOT REACH {to}',
      '{from} NEED_NOT TO|ON {to}',
      '{from} NEED_NOT {to}',
    ],
  ],
  [
    'spare from',
    [
      'KEEP ACCESS FROM|FOR {from}',
      'KEEP ACCESS OPEN FROM|FOR|TO {from}',
      'KEEP PRONOUN ACCEPT FROM|FOR|TO|BY {from}',
      'KEEP PRONOUN OPEN FOR|TO {from}',
      'LET|GIVE {from} REACH PRONOUN',
      'LET {from} TO PRONOUN',
    ],
  ],
  ['spare to', ['KEEP PRONOUN? ACCESS TO {to}', 'LET PRONOUN REACH {to}']],
  [
    'keep',
    [
      'KEEP ACCESS OPEN? FROM|FOR {from} TO|ON {to}',
      'KEEP ACCESS OPEN? TO|ON|OF {to} FROM|FOR|TO {from}',
      'KEEP {from} POSS? ACCESS TO|ON {to}',
      '{from} MAY KEEP PRONOUN? ACCESS TO|ON {to}',
    ],
  ],
  [
    'allow',
    [
      'LET|OPEN ACCESS BETWEEN {both}',
      'LET {both} REACH MUTUAL',
      'LET {both} TALK',
      '{both} MAY REACH MUTUAL',
      '{both} MAY TALK',
      'LET|GIVE|OPEN ACCESS FROM|FOR {from} TO|ON {to}',
      'LET|GIVE|OPEN ACCESS TO|ON|OF {to} FROM|FOR|BY|TO {from}',
      'LET|OPEN INCOMING TO|ON {to} FROM {from}',
      'ACCESS FROM {from} TO {to}',
      'ACCESS FROM {from} TO {to} MAY ALLOWED',
      'ACCESS TO {to} FROM {from} MAY ALLOWED',
      'LET|GIVE|OPEN {from} ACCESS TO|ON {to}',
      'LET|OPEN {to} ACCESS FOR|FROM {from}',
      'LET|GIVE|OPEN {from} REACH {to}',
      'LET|OPEN {from} REACHING {to}',
      'LET|OPEN {from} REACH ACCESS ON {to}',
      'LET {from} MAY REACH {to}',
      'LET {from} MAY TO {to}',
      'WHITELIST {from} FOR|ON|TO {to}',
      '{from} NEEDS ACCESS TO|ON|OF {to}',
      '{from} NEEDS {to}',
      '{from} MAY REACH {to}',
      '{from} MAY REACH ACCESS ON|OF|TO {to}',
      '{from} MAY ACCESS TO|ON {to}',
      '{from} MAY TO {to}',
      '{to} MAY ACCEPT ACCESS? FROM|BY|FOR|TO {from}',
      '{to} MAY ACCEPT INCOMING FROM {from}',
      'MAKE {to} ACCEPT FROM|BY|FOR|TO {from}',
      'OPEN {to} TO|FOR {from}',
      'LET|OPEN {from} ARROW {to}',
      'LET|OPEN ACCESS {from} ARROW {to}',
      '{from} ARROW {to}',
      '{from} COMMA LET ACCESS TO {to}',
      'LET {from} TO|ON {to}',
    ],
  ],
];

const FORMS: readonly Form[] = FORMS_BY_ACT.flatMap(([act, patterns]) =>
  patterns.map((pattern): Form => ({ act, pattern: patternOf(pattern) })),
);

/** A form that fits all words of a clause, with the words of its slots. */
export interface Fit {
  readonly act: Act;
  readonly slots: Slots;
}

/** Returns the first form that fits all words, if there is one. */
export function fitting(tokens: readonly Token[]): Fit | undefined {
  for (const { act, pattern } of FORMS) {
    const slots = match(pattern, tokens);
    if (slots) return { act, slots };
  }
  return undefined;
}
