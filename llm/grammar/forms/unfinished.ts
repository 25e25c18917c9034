import { asks, type Form } from './form.ts';

/** Sentences that name too little, and what is asked then. */
export function unfinishedForms(): Form[] {
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
      'Should it be made so? Then say "let … reach each other", with "and nobody else" where others are to be closed.',
      ['{both} REACH MUTUAL', '{both} TALK'],
      ['let {both} reach each other{on} and nobody else', 'let {both} reach each other{on}'],
    ),
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
