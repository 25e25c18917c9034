import type { Catalogue } from '../catalogue.ts';

/** Standards of 45 CFR 164. Titles are ours. */
export const hipaa: Catalogue = {
  framework: 'hipaa',
  title: 'HIPAA Security Rule',
  scope: 'ephi',
  subject: 'health-data',
  controls: [
    {
      id: 'HIPAA-164.308(a)(1)(ii)(D)',
      title: 'Information system activity is reviewed',
      check: 'activity-review',
      strength: 'strong',
      caveat: 'Read as it is now: no history of it is kept.',
      references: ['45 CFR 164.308(a)(1)(ii)(D)'],
    },
    {
      id: 'HIPAA-164.308(a)(4)',
      title: 'Access to health data is granted to authorised peers',
      check: 'granted-by-label',
      strength: 'strong',
      caveat: 'Grants are judged by whom they name; who approved each is told in HIPAA-164.312(c)(1).',
      references: ['45 CFR 164.308(a)(4)'],
    },
    {
      id: 'HIPAA-164.312(a)(1)',
      title: 'Access to health data is controlled',
      check: 'explicit-allow-only',
      strength: 'strong',
      caveat: 'Policies of the overlay are judged; firewalls and routes of hosts outside of it are not seen.',
      references: ['45 CFR 164.312(a)(1)'],
    },
    {
      id: 'HIPAA-164.312(a)(2)(i)',
      title: 'Users are uniquely identified',
      check: 'named-people',
      strength: 'partial',
      caveat:
        'The built-in account is looked for among who changed something; that two people share another is not seen.',
      references: ['45 CFR 164.312(a)(2)(i)'],
    },
    {
      id: 'HIPAA-164.312(b)',
      title: 'Audit controls record activity',
      check: 'complete-records',
      strength: 'strong',
      caveat: 'Changes are judged; the origin of a change stands with its login.',
      references: ['45 CFR 164.312(b)'],
    },
    {
      id: 'HIPAA-164.312(c)(1)',
      title: 'Integrity: no unauthorised change',
      check: 'changes-authorised',
      strength: 'strong',
      caveat: 'Changes of the network; the data on the peers is not seen.',
      references: ['45 CFR 164.312(c)(1)'],
    },
    {
      id: 'HIPAA-164.312(d)',
      title: 'Persons are authenticated',
      check: 'second-factor',
      strength: 'strong',
      caveat: 'Read as it is now: no history of it is kept.',
      references: ['45 CFR 164.312(d)'],
    },
    {
      id: 'HIPAA-164.312(e)(1)',
      title: 'Transmission is secured',
      check: 'encrypted-paths',
      strength: 'strong',
      caveat: 'Policies of the overlay are judged; firewalls and routes of hosts outside of it are not seen.',
      references: ['45 CFR 164.312(e)(1)'],
    },
    {
      id: 'HIPAA-164.316(b)(2)(i)',
      title: 'Documentation is kept six years',
      check: 'report-retention',
      strength: 'strong',
      caveat:
        'An obligation of who is assessed; copies kept elsewhere are not seen. Read as it is now: no history of it is kept.',
      references: ['45 CFR 164.316(b)(2)(i)'],
    },
  ],
};
