from noregret.core.bank import Bank

class DelayedBank(Bank):
    behind: Bank
