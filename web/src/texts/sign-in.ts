export const signIn = {
  title: 'Sign in',
  again: 'Your session ended. Sign in to go on; what you typed is still here.',
  username: 'User name',
  password: 'Password',
  otp: 'Code of your second factor, or a recovery code',
  stay: 'Stay signed in on this browser',
  submit: 'Sign in',
  out: 'Sign out',
  choose: 'Choose a password',
  chooseWhy: 'This account still has the password that it was made with. Choose your own to go on.',
  oldPassword: 'Current password',
  newPassword: 'New password',
  rule: '8 to 256 characters.',
  change: 'Change password',
  enrol: 'Set up a second factor',
  enrolWhy:
    'Who administers this control plane signs in with a code of an app beside the password. Set it up to go on.',
} as const;
