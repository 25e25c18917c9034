/** Returns true if a password, in lower case, is among the first guesses, with or without digits and signs around it. */
export function isCommonPassword(plain: string): boolean {
  if (COMMON.has(plain)) return true;
  const isLetter = (letter: string) => letter >= 'a' && letter <= 'z';
  const letters = [...plain];
  const word = plain.slice(Math.max(0, letters.findIndex(isLetter)), letters.findLastIndex(isLetter) + 1);
  return WORDS.has(word) || (word !== plain && COMMON.has(word));
}

/** Common whatever stands before and after them. */
const WORDS = new Set(
  `password passwort passw p@ssword p@ssw0rd passw0rd pa$$word pa$$w0rd letmein welcome iloveyou loveyou sunshine princess
  football baseball basketball superman batman spiderman trustno administrator admin root toor changeme changeit default
  secret topsecret monkey dragon master shadow michael jennifer jordan ashley michelle charlie daniel thomas george
  qwerty qwertz azerty qwertyui qwertyuiop qwertzuiop azertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm yxcvbnm abcdef abcdefgh
  abc abcd computer internet server network firewall vpn mesh meshd mesh-admin meshadmin wireguard guest user test testing
  login logon access hello hallo freedom whatever starwars pokemon cookie cheese summer winter spring autumn january
  february march april june july august september october november december monday tuesday wednesday thursday friday
  saturday sunday liverpool arsenal chelsea barcelona google facebook microsoft windows apple samsung cisco`.split(
    /\s+/,
  ),
);

const COMMON = new Set(
  `password password1 password12 password123 passw0rd p@ssw0rd p@ssword 12345678 123456789 1234567890 0123456789
  87654321 987654321 qwertyui qwerty123 qwerty1234 qwertyuiop 1q2w3e4r 1q2w3e4r5t 1qaz2wsx zaq12wsx asdfghjkl
  abcd1234 abc12345 letmein1 letmein123 welcome1 welcome123 iloveyou sunshine princess football baseball superman
  trustno1 administrator changeme changeme1 changeit default1 mesh-admin meshadmin monkey123 dragon123 master123
  11223344 12121212 123123123 12341234 123412341234 112233445566 123456789012 1234567890123 12345678910 147258369
  1234qwer qwer1234 1q2w3e4r5t6y 1qaz2wsx3edc qazwsxedc qazwsxedcrfv q1w2e3r4 q1w2e3r4t5 a1b2c3d4 1a2b3c4d aa123456
  123qweasd 123qweasdzxc asdf1234 zxcvbnm123 passwordpassword adminadmin correcthorsebatterystaple
  hunter2hunter2 thequickbrownfox opensesame iloveyou123 letmeinplease`.split(/\s+/),
);
