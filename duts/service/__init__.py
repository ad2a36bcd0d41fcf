"""A Service as clusters have it: an address that nodes translate to that of one of its servers."""

from stackcost.duts.service.iptables import IptablesLegacyService as IptablesLegacyService
from stackcost.duts.service.iptables import IptablesService as IptablesService
from stackcost.duts.service.nftables import NftablesService as NftablesService
