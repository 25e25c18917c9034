import { type Form, form } from './form.ts';

/** Letting someone reach something, alone or among others. */

export function onlyForms(): Form[] {
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
      '{source} MAY REACH NOBODY EXCEPT {target}',
      '{source} MAY ACCESS TO NOBODY EXCEPT {target}',
      'LET {source} ONLY REACH {target}',
      'LET {source} REACH ONLY {target}',
      'LET {source} REACH NOBODY EXCEPT {target}',
    ]),
    form('among', '<one> and <other> may reach only each other', [
      '{both} MAY ONLY REACH MUTUAL',
      '{both} MAY REACH ONLY MUTUAL',
      '{both} MAY REACH NOBODY EXCEPT MUTUAL',
      'LET {both} ONLY REACH MUTUAL',
      'LET {both} REACH ONLY MUTUAL',
      'LET {both} REACH NOBODY EXCEPT MUTUAL',
    ]),
    form('among', 'keep <one> and <other> among themselves', [
      'KEEP {both} BETWEEN? MUTUAL',
      'KEEP ACCESS OF|FROM|BETWEEN {both} BETWEEN MUTUAL',
      'KEEP {both} POSS? ACCESS BETWEEN MUTUAL',
      'LIMIT {both} TO REACHING? MUTUAL',
      'LIMIT {both} REACH MUTUAL',
      'LIMIT {both} POSS? ACCESS TO MUTUAL',
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

export function allowForms(): Form[] {
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
    form('allow', '<source> may reach <target>', [
      '{source} MAY REACH {target}',
      '{source} MAY ACCESS TO|ON {target}',
      '{source} MAY ALLOWED TO|ON {target}',
      '{source} MAY ALLOWED ACCESS TO|ON {target}',
    ]),
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

export function keepForms(): Form[] {
  return [
    form('keep', 'keep access from <source> to <target>', [
      'KEEP ACCESS OPEN? FROM|FOR {source} TO|ON {target}',
      'KEEP ACCESS OPEN? TO|ON|OF {target} OPEN? FROM|FOR|TO {source}',
      'KEEP {source} POSS? ACCESS TO|ON {target}',
      'KEEP {source} REACHING {target}',
      '{source} MAY KEEP PRONOUN? ACCESS TO|ON {target}',
    ]),
  ];
}
