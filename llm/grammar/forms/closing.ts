import { type Form, form } from './form.ts';

/** Keeping someone from something, and taking back or narrowing what was granted. */

export function denyForms(): Form[] {
  return [
    form('deny', 'nobody may reach <target>', [
      'LET NOBODY REACH {target}',
      'NOBODY MAY REACH {target}',
      'NOBODY MAY ACCESS TO {target}',
      '{target} MAY ACCEPT ACCESS? FROM|BY|FOR|TO NOBODY',
    ]),
    form('deny', '<source> must not reach <target>', [
      'NOBODY MAY REACH {target} FROM {source}',
      'NO {source} MAY REACH {target}',
      '{source} MAY_NOT REACH {target}',
      '{source} MAY_NOT ACCESS TO {target}',
    ]),
    form('deny', '<target> must not be reached by <source>', [
      '{target} MAY_NOT ACCEPT ACCESS? FROM|BY|FOR|TO {source}',
      '{target} MAY UNREACHABLE FROM|BY|FOR|TO {source}',
      'MAKE|KEEP {target} UNREACHABLE FROM|BY|FOR|TO {source}',
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
    form('deny', 'keep <source> away from <target>', ['KEEP {source} FROM {target}', 'CLOSE {source} FROM {target}']),
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
    form('deny', 'block all access from <source>', ['DENY|CUT|ISOLATE|CLOSE ACCESS FROM {source}']),
    form('deny', 'close <ports> on <target> to <source>', ['CLOSE ACCESS ON|OF|TO {target} TO|FOR|FROM {source}']),
    form('deny', 'close <ports> on <target>', ['CLOSE ACCESS ON|OF|TO {target}']),
    form('deny', 'close <target> to <source>', ['CLOSE {target} TO|FOR {source}']),
  ];
}

export function isolateForms(): Form[] {
  return [
    form('among', 'isolate <one> and <other> from everyone except each other', [
      'ISOLATE|DENY|CUT {both} OFF? REACHING|REACH|FROM {everyone} EXCEPT MUTUAL',
      '{both} MAY ISOLATED|BLOCKED REACHING|REACH|FROM {everyone} EXCEPT MUTUAL',
      '{both} MAY_NOT REACH {everyone} EXCEPT MUTUAL',
    ]),
    form('separate', 'isolate <one> from <other>', [
      'ISOLATE {both} FROM MUTUAL',
      'KEEP {both} APART',
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

export function revokeForms(): Form[] {
  return [
    form('revoke', "revoke <source>'s access to <target>", [
      'REVOKE {source} POSS? ACCESS TO|ON {target}',
      'REVOKE {source} POSS {target} ACCESS',
    ]),
    form('takeBack', '<source> should lose access to <target>', ['{source} MAY? LOSE PRONOUN? ACCESS TO|ON {target}']),
    form('takeBack', '<source> no longer needs <target>', [
      '{source} NEED_NOT ACCESS TO|ON {target}',
      '{source} NEED_NOT REACH {target}',
      '{source} NEED_NOT TO|ON|FROM {target}',
      '{source} NEED_NOT {target}',
    ]),
    form('revoke', 'revoke all access to <target>', ['REVOKE ACCESS TO|ON {target}']),
    form('revoke', 'revoke access from <source> to <target>', [
      'REVOKE ACCESS FROM|OF|FOR {source} TO|ON {target}',
      'REVOKE ACCESS TO|ON {target} FROM|OF|FOR {source}',
      'REVOKE ACCESS {source} MAY TO|ON {target}',
    ]),
  ];
}

export function limitForms(): Form[] {
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
      'ONLY ACCESS MAY REACH {target}',
      'ONLY ACCESS MAY ALLOWED TO|ON|FOR {target}',
      'NOBODY EXCEPT ACCESS MAY REACH {target}',
      '{target} MAY ONLY ACCEPT ACCESS?',
      '{target} MAY ACCEPT ONLY ACCESS?',
    ]),
    form('limit', 'limit <target> to <ports>', ['LIMIT ACCESS TO|ON {target}', 'LIMIT {target}']),
  ];
}
